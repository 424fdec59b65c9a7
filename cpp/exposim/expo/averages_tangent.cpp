#include "exposim/expo/averages_tangent.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/oscillator.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// A step in parts in each of which what decays or swings does so by this at most, so that its quadrature is exact.
constexpr double kPerPanel = 20.0;
constexpr int kMostPanels = 256;

// Gauss–Legendre, 16 nodes on [−1, 1]: the positive ones.
constexpr std::array<double, 8> kNodes = {0.095012509837637441, 0.28160355077925892, 0.45801677765722737,
                                          0.61787624440264377,  0.755404408355003,   0.86563120238783176,
                                          0.9445750230732326,   0.98940093499164994};
constexpr std::array<double, 8> kWeights = {0.18945061045506864,  0.18260341504492364, 0.16915651939500265,
                                            0.14959598881657671,  0.12462897125553407, 0.095158511682492605,
                                            0.062253523938647456, 0.027152459411754176};

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

/// Where [0, 1] is divided: finely at both ends, where what is stiff decays, or evenly where it swings on.
std::vector<double> panels(double fastest, double swings) {
  std::vector<double> ends{0.0};
  if (swings > kPerPanel) {
    const int count = std::min(kMostPanels, static_cast<int>(std::ceil(std::max(fastest, swings) / kPerPanel)));
    for (int i = 1; i <= count; ++i) ends.push_back(static_cast<double>(i) / count);
    return ends;
  }
  std::vector<double> half;
  for (double x = kPerPanel / std::max(fastest, 1e-3); x < 0.5; x *= 2.0) half.push_back(x);
  for (const double x : half) ends.push_back(x);
  if (!half.empty()) ends.push_back(0.5);
  for (auto x = half.rbegin(); x != half.rend(); ++x) ends.push_back(1.0 - *x);
  ends.push_back(1.0);
  return ends;
}

/// In which stiffness or damping of any strand changes.
std::vector<Index> directions_of(const std::vector<Tangent>& materials) {
  std::vector<Index> found;
  for (Index direction = 0; direction < materials.front().cols(); ++direction) {
    const bool any = std::any_of(materials.begin(), materials.end(), [&](const Tangent& each) {
      return each(0, direction) != 0.0 || each(1, direction) != 0.0 || each(2, direction) != 0.0 ||
             each(3, direction) != 0.0;
    });
    if (any) found.push_back(direction);
  }
  return found;
}

}  // namespace

void AveragesTangent::begin(const MatrixXd& Upsilon, const std::vector<Holding>& strands, double c, double dt) {
  strands_ = strands;
  c_ = c;
  dt_ = dt;
  has_products_ = false;
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
  eigen_.compute(S_);
  omega_ = eigen_.eigenvalues().cwiseMax(0.0);
  V_.resize(m, m);
  for (Index i = 0; i < m; i += 3) {
    V_.middleRows<3>(i).noalias() = C_.block<3, 3>(i, i).lazyProduct(eigen_.eigenvectors().middleRows<3>(i));
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

void AveragesTangent::integrate_products() {
  if (has_products_) return;
  has_products_ = true;
  const Index m = omega_.size();
  double fastest = 0.0, swings = 0.0;
  for (Index k = 0; k < m; ++k) {
    const double half = 0.5 * c_ * omega_(k), square = half * half - omega_(k);
    fastest = std::max(fastest, dt_ * (half + std::sqrt(std::max(square, 0.0))));
    swings = std::max(swings, dt_ * std::sqrt(std::max(-square, 0.0)));
  }
  // Nodes lie evenly about the middle of the step: what is left after one is what has passed at another.
  const std::vector<double> ends = panels(fastest, swings);
  std::vector<double> times, weights;
  for (std::size_t panel = 1; panel < ends.size(); ++panel) {
    const double middle = 0.5 * (ends[panel - 1] + ends[panel]), half = 0.5 * (ends[panel] - ends[panel - 1]);
    for (std::size_t node = 0; node < 2 * kNodes.size(); ++node) {
      const bool first = node < kNodes.size();
      const std::size_t which = first ? kNodes.size() - 1 - node : node - kNodes.size();
      times.push_back(dt_ * (middle + (first ? -half : half) * kNodes[which]));
      weights.push_back(dt_ * half * kWeights[which]);
    }
  }
  const auto nodes = static_cast<Index>(times.size());
  const Index length = padded(m);
  for (RowMatrixXd* each : {&eta_, &deta_}) each->setZero(nodes, length);
  for (RowMatrixXd* each : {&z_, &z2_}) each->resize(m, nodes);
  course_.resize(4, nodes);
  const OscillatorCourse y{course_.row(0).data(), course_.row(1).data(), course_.row(2).data(), course_.row(3).data()};
  for (Index k = 0; k < m; ++k) {
    const double omega = omega_(k), eta0 = eta0_(k), deta0 = deta0_(k), f = f_(k);
    oscillator_course(omega, c_ * omega, nodes, times.data(), y);
    double *const eta = eta_.data() + k, *const deta = deta_.data() + k;
    double *const z = z_.row(k).data(), *const z2 = z2_.row(k).data();
    for (Index i = 0; i < nodes; ++i) {
      eta[i * length] = eta0 * (y.dG[i] + c_ * omega * y.G[i]) + deta0 * y.G[i] + f * y.G1[i];
      deta[i * length] = -eta0 * omega * y.G[i] + deta0 * y.dG[i] + f * y.G[i];
      const Index mirrored = nodes - 1 - i;
      const double weight = weights[static_cast<std::size_t>(mirrored)];
      z[mirrored] = weight * (y.G1[i] + c_ * y.G[i]);
      z2[mirrored] = weight * (y.G2[i] + c_ * y.G1[i]);
    }
  }
  with_eta_ = product(z_, eta_);
  with_deta_ = product(z_, deta_);
  with_eta2_ = product(z2_, eta_);
  with_deta2_ = product(z2_, deta_);
}

void AveragesTangent::products_by(const std::vector<MatrixXd>& Upsilon_by_q, const RowMatrixXd& x, const RowMatrixXd& y,
                                  RowMatrixXd& by_q) {
  const Index m = x.rows(), n = x.cols();
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
  integrate_products();
  // With E = Vᵀ dΥ V and weights W, Σ_j E_ij W_ij = v_iᵀ dΥ y_i, y_i = V w_i: for both weights, side by side.
  const Index m = omega_.size(), length = padded(m);
  const RowMatrixXd with = with_eta_ + c_ * with_deta_, with2 = with_eta2_ + c_ * with_deta2_;
  RowMatrixXd V, Y, by_q;
  clear(V, m, length);
  clear(Y, m, 2 * length);
  V.leftCols(m) = V_;
  Y.leftCols(m) = V_.lazyProduct(with.leftCols(m).transpose());
  Y.middleCols(length, m) = V_.lazyProduct(with2.leftCols(m).transpose());
  Y.leftCols(m) += lam * by_f_.transpose();
  Y.middleCols(length, m) += lam * by_f2_.transpose();
  change.products(V, Y, by_q);
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
  if (!materials.empty()) add_materials(materials, once, twice);
  lam_bar = product(-V_ / dt_, once);
  lam_bar2 = product(-V_ * (2.0 / (dt_ * dt_)), twice);
  if (!materials.empty()) add_forces_of_materials(materials, lam_bar, lam_bar2);
}

Matrix3d AveragesTangent::changed(std::size_t k, double along, double across) const {
  const Vector3d& n = strands_[k].n;
  const Index first = 3 * static_cast<Index>(k);
  const Matrix3d normal = n * n.transpose();
  if (C_(first + 1, first + 1) == 0.0) return along * normal;  // a coordinate
  return along * normal + across * (Matrix3d::Identity() - normal);
}

void AveragesTangent::add_materials(const std::vector<Tangent>& materials, Tangent& once, Tangent& twice) {
  // Where K and B change, −Υ (dK Δp + dB Δṗ) is a further acceleration, and −(dK Δp + dB Δṗ) a further force.
  integrate_products();
  const Index m = omega_.size();
  Z_.setZero(m, m);  // Δp = Z η
  for (Index first = 0; first < m; first += 3) {
    const Matrix3d C = C_.block<3, 3>(first, first);
    Matrix3d inverse = Matrix3d::Zero();
    if (C(1, 1) == 0.0) {
      inverse(0, 0) = C(0, 0) > 0.0 ? 1.0 / C(0, 0) : 0.0;
    } else {
      inverse = C.inverse();
    }
    Z_.middleRows<3>(first).noalias() = inverse.transpose() * eigen_.eigenvectors().middleRows<3>(first);
  }
  MatrixXd Kz(m, m), Bz(m, m);
  for (const Index direction : directions_of(materials)) {
    Kz.setZero();
    Bz.setZero();
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const auto change = materials[k].col(direction);
      const auto Z = Z_.middleRows<3>(3 * static_cast<Index>(k));
      Kz.noalias() += Z.transpose().lazyProduct(changed(k, change(0), change(1)) * Z);
      Bz.noalias() += Z.transpose().lazyProduct(changed(k, change(2), change(3)) * Z);
    }
    const auto sums = [&](const RowMatrixXd& with_eta, const RowMatrixXd& with_deta) -> VectorXd {
      return (Kz.cwiseProduct(with_eta.leftCols(m)) + Bz.cwiseProduct(with_deta.leftCols(m))).rowwise().sum();
    };
    once.col(direction) -= omega_.cwiseProduct(sums(with_eta_, with_deta_));
    twice.col(direction) -= omega_.cwiseProduct(sums(with_eta2_, with_deta2_));
  }
}

void AveragesTangent::add_forces_of_materials(const std::vector<Tangent>& materials, Tangent& lam_bar,
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
  for (const Index direction : directions_of(materials)) {
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
