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

void AveragesTangent::begin(const MatrixXd& Upsilon, const std::vector<Holding>& strands, double c, double dt) {
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

void AveragesTangent::pair_modes() {
  if (has_pairs_) return;
  has_pairs_ = true;
  pairs_.compute(omega_, c_, dt_);
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
  // With E = Vᵀ dΥ V and weights W, Σ_j E_ij W_ij and v_iᵀ dΥ λ: for both integrals, side by side.
  const Index m = omega_.size(), each = padded(m), length = padded(m + 1);
  RowMatrixXd x, by_q, weights;
  clear(weights, m + 1, 2 * length);
  RowSum sum(each);
  for (Index j = 0; j < m; ++j) {
    const double by0 = eta0_(j) + c_ * deta0_(j), by1 = deta0_(j) + c_ * f_(j), by2 = f_(j);
    for (const Index more : {0, 1}) {
      sum.add(by0, pairs_.E(more, j)).add(by1, pairs_.E(1 + more, j)).add(by2, pairs_.E(2 + more, j));
      sum.into(weights.row(j).data() + more * length);
    }
  }
  weights.row(m).head(m) = by_f_;
  weights.row(m).segment(length, m) = by_f2_;
  clear(x, m, length);
  x.leftCols(m) = V_;
  x.col(m) = lam;
  change.products(x, weights, by_q);
  change.add_by_q(-by_q.leftCols(m).transpose(), once);
  change.add_by_q(-by_q.middleCols(length, m).transpose(), twice);
}

void AveragesTangent::differentiate(const Tangent& ddp, const VectorXd& lam, const Tangent& delta_p,
                                    const Tangent& delta_dp, const ChangeOfUpsilon* change,
                                    const std::vector<Tangent>& materials, Tangent& lam_bar, Tangent& lam_bar2) {
  const Index m = omega_.size();
  // In modes, then what their forces add up to.
  const RowMatrixXd to_modes = V_.transpose();
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
  lam_bar = product(-V_ / dt_, once);
  lam_bar2 = product(-V_ * (2.0 / (dt_ * dt_)), twice);
  if (!directions.empty()) add_forces_of_materials(materials, directions, lam_bar, lam_bar2);
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
  const Index m = omega_.size(), length = padded(m);
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
      const double *const E = pairs_.E(more, j), *const E1 = pairs_.E(1 + more, j), *const E2 = pairs_.E(2 + more, j);
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
        const Eigen::Matrix3Xd pushed =
            dK.lazyProduct(moved.block(first, begin, 3, m)) + dB.lazyProduct(moved.block(first, begin + length, 3, m));
        to.col(direction).array() -=
            omega_.array() * Z_.middleRows<3>(first).cwiseProduct(pushed).colwise().sum().transpose().array();
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
