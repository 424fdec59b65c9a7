#include "exposim/expo/averages_tangent.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "exposim/expo/strand_tangent.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/oscillator.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixX3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// C with CCᵀ = K, also where K has rows that are zero.
Matrix3d root(const Matrix3d& K) {
  Matrix3d C = Matrix3d::Zero();
  if (K(1, 1) == 0.0 && K(2, 2) == 0.0) {
    C(0, 0) = std::sqrt(K(0, 0));
  } else {
    C = K.llt().matrixL();
  }
  return C;
}

/// In which stiffness or damping of any strand changes.
std::vector<Index> directions_of(const std::vector<Tangent>& materials) {
  Eigen::RowVectorXd any = Eigen::RowVectorXd::Zero(materials.front().cols());
  for (const Tangent& each : materials) any += each.topRows<kRowMu>().cwiseAbs().colwise().sum();
  std::vector<Index> found;
  for (Index direction = 0; direction < any.size(); ++direction) {
    if (any(direction) > 0.0) found.push_back(direction);
  }
  return found;
}

}  // namespace

void AveragesTangent::begin(const MatrixXd& Upsilon, const std::vector<Holding>& strands, double c, double dt,
                            AtRest at_rest) {
  strands_ = strands;
  c_ = c;
  dt_ = dt;
  has_pairs_ = false;
  const Index m = 3 * static_cast<Index>(strands.size());
  C_.setZero(m, m);
  VectorXd delta_p(m), delta_dp(m), ddp_bar(m);
  for (std::size_t k = 0; k < strands.size(); ++k) {
    const Index first = 3 * static_cast<Index>(k);
    C_.block<3, 3>(first, first) = root(strands[k].K);
    delta_p.segment<3>(first) = strands[k].delta_p;
    delta_dp.segment<3>(first) = strands[k].delta_dp;
    ddp_bar.segment<3>(first) = strands[k].ddp_bar;
  }
  S_.resize(m, m);
  for (Index i = 0; i < m; i += 3) {
    for (Index j = 0; j < m; j += 3) {
      S_.block<3, 3>(i, j) = C_.block<3, 3>(i, i).transpose() * Upsilon.block<3, 3>(i, j) * C_.block<3, 3>(j, j);
    }
  }
  modal_.find_modes(S_, U_);
  omega_ = modal_.omega();
  asked_ = m;
  if (at_rest == AtRest::kLeftOut) put_modes_at_rest_last();
  V_.resize(m, m);
  for (Index i = 0; i < m; i += 3) {
    V_.middleRows<3>(i).noalias() = C_.block<3, 3>(i, i).lazyProduct(U_.middleRows<3>(i));
  }
  eta0_ = V_.transpose() * delta_p;
  deta0_ = V_.transpose() * delta_dp;
  f_ = V_.transpose() * ddp_bar;
  for (VectorXd* each : {&by_eta_, &by_deta_, &by_f_, &by_eta2_, &by_deta2_, &by_f2_}) each->resize(m);
  for (Index k = 0; k < m; ++k) {
    const double omega = omega_(k);
    const OscillatorIntegrals y = oscillator_integrals(omega, c, dt);
    // With t − ωG2 = G + cωG1 and so on: ∫μ = ∫η + c (η(dt) − η0), ∫∫μ = ∫∫η + c (∫η − dt η0).
    by_eta_(k) = y.G;
    by_deta_(k) = y.G1 + c * y.G;
    by_f_(k) = y.G2 + c * y.G1;
    by_eta2_(k) = y.G1;
    by_deta2_(k) = y.G2 + c * y.G1;
    by_f2_(k) = y.G3 + c * y.G2;
  }
  once_ = by_eta_.cwiseProduct(eta0_) + by_deta_.cwiseProduct(deta0_) + by_f_.cwiseProduct(f_);
  twice_ = by_eta2_.cwiseProduct(eta0_) + by_deta2_.cwiseProduct(deta0_) + by_f2_.cwiseProduct(f_);
}

void AveragesTangent::put_modes_at_rest_last() {
  constexpr double kRounding = 1e-12;
  const double least = kRounding * omega_.maxCoeff();
  for (Index k = 0; k < asked_;) {
    if (omega_(k) > least) {
      ++k;
      continue;
    }
    --asked_;
    omega_(k) = omega_(asked_);
    omega_(asked_) = 0.0;
    U_.col(k).swap(U_.col(asked_));
  }
}

void AveragesTangent::pair_modes() {
  if (has_pairs_) return;
  has_pairs_ = true;
  pairs_.compute(omega_.head(std::min(asked_ + 1, omega_.size())), c_, dt_);
}

void AveragesTangent::products_by(const std::vector<MatrixXd>& Upsilon_by_q, const RowMatrixXd& x,
                                  const RowMatrixXd& weights, RowMatrixXd& by_q) {
  const Index m = x.rows(), n = x.cols();
  const RowMatrixXd y = product(x.leftCols(weights.rows()), weights);
  by_q.resize(static_cast<Index>(Upsilon_by_q.size()), y.cols());
  RowMatrixXd Upsilon(m, m), pushed;
  RowMatrixXd repeated(m, y.cols());
  for (Index first = 0; first < y.cols(); first += n) repeated.middleCols(first, n) = x;
  for (std::size_t k = 0; k < Upsilon_by_q.size(); ++k) {
    Upsilon = Upsilon_by_q[k].topLeftCorner(m, m);
    multiply(Upsilon, y, pushed);
    sum_products(m, y.cols(), repeated.data(), pushed.data(), by_q.row(static_cast<Index>(k)).data());
  }
}

void AveragesTangent::add_change_of_Upsilon(const ChangeOfUpsilon& change, const VectorXd& lam, Tangent& once,
                                            Tangent& twice) {
  pair_modes();
  // With E = Vᵀ dΥ V and weights W, Σ_j E_ij W_ij and v_iᵀ dΥ λ: for both integrals, side by side. Modes at rest push
  // together, by the first, second and third of their integrals.
  constexpr Index kTogether = 3;
  const Index m = omega_.size(), resting = m - asked_, sources = asked_ + (resting > 0 ? kTogether : 0);
  const Index each = padded(asked_), length = padded(sources + 1);
  RowMatrixXd x, by_q, weights;
  clear(weights, sources + 1, 2 * length);
  clear(x, V_.rows(), length);
  MatrixX3d by(m, kTogether);
  by << eta0_ + c_ * deta0_, deta0_ + c_ * f_, f_;
  RowSum sum(each);
  for (const Index more : {0, 1}) {
    double* const group = weights.data() + more * length;
    for (Index j = 0; j < asked_; ++j) {
      for (Index k = 0; k < kTogether; ++k) sum.add(by(j, k), paired(k + more, j));
      sum.into(group + j * weights.cols());
    }
    for (Index k = 0; asked_ + k < sources; ++k) {
      sum.add(1.0, paired(k + more, asked_)).into(group + (asked_ + k) * weights.cols());
    }
  }
  weights.row(sources).head(asked_) = by_f_.head(asked_);
  weights.row(sources).segment(length, asked_) = by_f2_.head(asked_);
  x.leftCols(asked_) = V_.leftCols(asked_);
  if (resting > 0) x.middleCols<kTogether>(asked_) = V_.rightCols(resting) * by.bottomRows(resting);
  x.col(sources) = lam;
  change.products(x, weights, by_q);
  change.add_by_q(-by_q.leftCols(asked_).transpose(), once);
  change.add_by_q(-by_q.middleCols(length, asked_).transpose(), twice);
}

void AveragesTangent::differentiate(const Tangent& ddp, const VectorXd& lam, const Tangent& delta_p,
                                    const Tangent& delta_dp, const ChangeOfUpsilon* change,
                                    const std::vector<Tangent>& materials, const MatrixXd* more, Tangent& lam_bar,
                                    Tangent& lam_bar2) {
  const Index m = asked_;
  // In modes, then what their forces add up to.
  const auto V = V_.leftCols(m);
  const RowMatrixXd to_modes = V.transpose();
  Tangent &once = once_tangent_, &twice = twice_tangent_;
  const Tangent eta = product(to_modes, delta_p), deta = product(to_modes, delta_dp), f = product(to_modes, ddp);
  once.resize(m, ddp.cols());
  twice.resize(m, ddp.cols());
  RowSum sum(ddp.cols());
  for (Index k = 0; k < m; ++k) {
    const double *const of_eta = eta.row(k).data(), *const of_deta = deta.row(k).data(), *const of_f = f.row(k).data();
    sum.add(by_eta_(k), of_eta).add(by_deta_(k), of_deta).add(by_f_(k), of_f).into(once.row(k).data());
    sum.add(by_eta2_(k), of_eta).add(by_deta2_(k), of_deta).add(by_f2_(k), of_f).into(twice.row(k).data());
  }
  if (change) add_change_of_Upsilon(*change, lam, once, twice);
  const std::vector<Index> directions = materials.empty() ? std::vector<Index>() : directions_of(materials);
  if (!directions.empty()) add_materials(materials, directions, once, twice);
  if (more) feed_back(*more, once, twice);
  lam_bar = product(-V / dt_, once);
  lam_bar2 = product(-V * (2.0 / (dt_ * dt_)), twice);
  if (!directions.empty()) add_forces_of_materials(materials, directions, lam_bar, lam_bar2);
}

void AveragesTangent::feed_back(const MatrixXd& more, Tangent& once, Tangent& twice) const {
  // λ̄ = −V y/dt, and p̈̄ more of it: y = y₀ − D E y/dt with E = Vᵀ more V and D what ∫μ has of p̈̄.
  const auto V = V_.leftCols(asked_);
  const MatrixXd E = V.transpose() * more * V / dt_;
  const MatrixXd left = MatrixXd::Identity(asked_, asked_) + by_f_.head(asked_).asDiagonal() * E;
  once = product(left.inverse(), once);
  add_product((-by_f2_.head(asked_)).asDiagonal() * E, once, twice);
}

Matrix3d AveragesTangent::changed(std::size_t k, double along, double across) const {
  const Vector3d& n = strands_[k].n;
  const Index first = 3 * static_cast<Index>(k);
  const Matrix3d normal = n * n.transpose();
  if (C_(first + 1, first + 1) == 0.0) return along * normal;  // a coordinate
  return along * normal + across * (Matrix3d::Identity() - normal);
}

void AveragesTangent::add_materials(const std::vector<Tangent>& materials, const std::vector<Index>& directions,
                                    Tangent& once, Tangent& twice) {
  // Where K and B change, −Υ (dK Δp + dB Δṗ) is a further acceleration, and −(dK Δp + dB Δṗ) a further force.
  pair_modes();
  const Index m = omega_.size(), length = padded(asked_);
  Z_.setZero(m, m);  // Δp = Z η
  for (Index first = 0; first < m; first += 3) {
    const Matrix3d C = C_.block<3, 3>(first, first);
    Matrix3d inverse = Matrix3d::Zero();
    if (C(1, 1) == 0.0) {
      inverse(0, 0) = C(0, 0) > 0.0 ? 1.0 / C(0, 0) : 0.0;
    } else {
      inverse = C.inverse();
    }
    Z_.middleRows<3>(first).noalias() = inverse.transpose() * U_.middleRows<3>(first);
  }
  // Σ_j z_iᵀ dK z_j ∫ z_i(dt − t) η_j(t) dt and so on, for both integrals of both, side by side.
  RowMatrixXd weights(m, 4 * length);
  RowSum sum(length);
  for (Index j = 0; j < m; ++j) {
    const double omega = omega_(j), eta0 = eta0_(j), deta0 = deta0_(j), f = f_(j);
    double* const row = weights.row(j).data();
    for (const Index more : {0, 1}) {
      const double *const E = paired(more, j), *const E1 = paired(1 + more, j), *const E2 = paired(2 + more, j);
      sum.add(eta0, E).add(eta0 * c_ * omega + deta0, E1).add(f, E2).into(row + 2 * more * length);
      sum.add(deta0, E).add(f - omega * eta0, E1).into(row + (2 * more + 1) * length);
    }
  }
  const RowMatrixXd moved = product(Z_, weights);
  for (const Index direction : directions) {
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const Index first = 3 * static_cast<Index>(k);
      const auto change = materials[k].col(direction);
      const Matrix3d dK = changed(k, change(0), change(1)), dB = changed(k, change(2), change(3));
      const auto add = [&](Index begin, Tangent& to) {
        const Eigen::Matrix3Xd pushed = dK.lazyProduct(moved.block(first, begin, 3, asked_)) +
                                        dB.lazyProduct(moved.block(first, begin + length, 3, asked_));
        const auto Z = Z_.block(first, 0, 3, asked_);
        to.col(direction).array() -=
            omega_.head(asked_).array() * Z.cwiseProduct(pushed).colwise().sum().transpose().array();
      };
      add(0, once);
      add(2 * length, twice);
    }
  }
}

void AveragesTangent::add_forces_of_materials(const std::vector<Tangent>& materials,
                                              const std::vector<Index>& directions, Tangent& lam_bar,
                                              Tangent& lam_bar2) const {
  const Index m = omega_.size();
  VectorXd eta_int(m), eta_int2(m), eta_end(m);
  for (Index k = 0; k < m; ++k) {
    const double omega = omega_(k), c = c_;
    const OscillatorIntegrals y = oscillator_integrals(omega, c, dt_);
    eta_int(k) = eta0_(k) * (y.G + c * omega * y.G1) + deta0_(k) * y.G1 + f_(k) * y.G2;
    eta_int2(k) = eta0_(k) * (y.G1 + c * omega * y.G2) + deta0_(k) * y.G2 + f_(k) * y.G3;
    eta_end(k) = eta0_(k) * (y.dG + c * omega * y.G) + deta0_(k) * y.G + f_(k) * y.G1;
  }
  const VectorXd p_int = Z_ * eta_int, p_int2 = Z_ * eta_int2;
  const VectorXd dp_int = Z_ * (eta_end - eta0_), dp_int2 = Z_ * (eta_int - dt_ * eta0_);
  for (const Index direction : directions) {
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const Index first = 3 * static_cast<Index>(k);
      const auto change = materials[k].col(direction);
      const Matrix3d dK = changed(k, change(0), change(1)), dB = changed(k, change(2), change(3));
      lam_bar.col(direction).segment<3>(first) -= (dK * p_int.segment<3>(first) + dB * dp_int.segment<3>(first)) / dt_;
      lam_bar2.col(direction).segment<3>(first) -=
          (dK * p_int2.segment<3>(first) + dB * dp_int2.segment<3>(first)) * (2.0 / (dt_ * dt_));
    }
  }
}

}  // namespace exposim
