#include "exposim/expo/averages_tangent.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

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
  S_.noalias() = C_.transpose() * Upsilon * C_;
  eigen_.compute(S_);
  omega_ = eigen_.eigenvalues().cwiseMax(0.0);
  V_.noalias() = C_ * eigen_.eigenvectors();
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
  for (RowMatrixXd* each : {&eta_, &deta_, &z_, &z2_}) each->resize(m, nodes);
  course_.resize(4, nodes);
  const OscillatorCourse y{course_.row(0).data(), course_.row(1).data(), course_.row(2).data(), course_.row(3).data()};
  for (Index k = 0; k < m; ++k) {
    const double omega = omega_(k), eta0 = eta0_(k), deta0 = deta0_(k), f = f_(k);
    oscillator_course(omega, c_ * omega, nodes, times.data(), y);
    double *const eta = eta_.row(k).data(), *const deta = deta_.row(k).data();
    double *const z = z_.row(k).data(), *const z2 = z2_.row(k).data();
    for (Index i = 0; i < nodes; ++i) {
      eta[i] = eta0 * (y.dG[i] + c_ * omega * y.G[i]) + deta0 * y.G[i] + f * y.G1[i];
      deta[i] = -eta0 * omega * y.G[i] + deta0 * y.dG[i] + f * y.G[i];
      const Index mirrored = nodes - 1 - i;
      const double weight = weights[static_cast<std::size_t>(mirrored)];
      z[mirrored] = weight * (y.G1[i] + c_ * y.G[i]);
      z2[mirrored] = weight * (y.G2[i] + c_ * y.G1[i]);
    }
  }
  with_eta_.noalias() = z_ * eta_.transpose();
  with_deta_.noalias() = z_ * deta_.transpose();
  with_eta2_.noalias() = z2_ * eta_.transpose();
  with_deta2_.noalias() = z2_ * deta_.transpose();
}

void AveragesTangent::differentiate(const Tangent& ddp_bar, const Tangent& delta_p, const Tangent& delta_dp,
                                    const std::vector<MatrixXd>* Upsilon_by_q, const AddByQ& add_by_q,
                                    const std::vector<Tangent>& materials, Tangent& lam_bar, Tangent& lam_bar2) {
  const Index m = omega_.size();
  // In modes, then what their forces add up to.
  const RowMatrixXd to_modes = V_.transpose();
  const auto sums = [&](const Tangent& of, const VectorXd& by, const VectorXd& by2) {
    const Tangent eta = product(to_modes, of);
    once_tangent_ += by.asDiagonal() * eta;
    twice_tangent_ += by2.asDiagonal() * eta;
  };
  Tangent &once = once_tangent_, &twice = twice_tangent_;
  once.setZero(m, ddp_bar.cols());
  twice.setZero(m, ddp_bar.cols());
  sums(delta_p, by_eta_, by_eta2_);
  sums(delta_dp, by_deta_, by_deta2_);
  sums(ddp_bar, by_f_, by_f2_);
  if (Upsilon_by_q) {
    integrate_products();
    const MatrixXd with = with_eta_ + c_ * with_deta_, with2 = with_eta2_ + c_ * with_deta2_;
    const auto count = static_cast<Index>(Upsilon_by_q->size());
    RowMatrixXd by_q(m, count), by_q2(m, count);
    MatrixXd half(m, m), E(m, m);
    for (Index k = 0; k < count; ++k) {
      half.noalias() = (*Upsilon_by_q)[static_cast<std::size_t>(k)].topLeftCorner(m, m) * V_;
      E.noalias() = V_.transpose() * half;
      by_q.col(k) = -E.cwiseProduct(with).rowwise().sum();
      by_q2.col(k) = -E.cwiseProduct(with2).rowwise().sum();
    }
    add_by_q(by_q, once);
    add_by_q(by_q2, twice);
  }
  lam_bar.setZero(m, ddp_bar.cols());
  lam_bar2.setZero(m, ddp_bar.cols());
  if (!materials.empty()) add_materials(materials, lam_bar, lam_bar2, once, twice);
  add_product(-V_ / dt_, once, lam_bar);
  add_product(-V_ * (2.0 / (dt_ * dt_)), twice, lam_bar2);
}

void AveragesTangent::add_materials(const std::vector<Tangent>& materials, Tangent& lam_bar, Tangent& lam_bar2,
                                    Tangent& once, Tangent& twice) const {
  // Where K and B change, −Υ (dK Δp + dB Δṗ) is a further acceleration, and −(dK Δp + dB Δṗ) a further force.
  const_cast<AveragesTangent*>(this)->integrate_products();
  const Index m = omega_.size();
  MatrixXd Z = MatrixXd::Zero(m, m);  // Δp = Z η
  for (Index first = 0; first < m; first += 3) {
    const Matrix3d C = C_.block<3, 3>(first, first);
    Matrix3d inverse = Matrix3d::Zero();
    if (C(1, 1) == 0.0) {
      inverse(0, 0) = C(0, 0) > 0.0 ? 1.0 / C(0, 0) : 0.0;
    } else {
      inverse = C.inverse();
    }
    Z.middleRows<3>(first).noalias() = inverse.transpose() * eigen_.eigenvectors().middleRows<3>(first);
  }
  VectorXd eta_int(m), eta_int2(m), eta_end(m);
  for (Index k = 0; k < m; ++k) {
    const double omega = omega_(k), c = c_;
    const OscillatorIntegrals y = oscillator_integrals(omega, c, dt_);
    eta_int(k) = eta0_(k) * (y.G + c * omega * y.G1) + deta0_(k) * y.G1 + f_(k) * y.G2;
    eta_int2(k) = eta0_(k) * (y.G1 + c * omega * y.G2) + deta0_(k) * y.G2 + f_(k) * y.G3;
    eta_end(k) = eta0_(k) * (y.dG + c * omega * y.G) + deta0_(k) * y.G + f_(k) * y.G1;
  }
  const VectorXd p_int = Z * eta_int, p_int2 = Z * eta_int2;
  const VectorXd dp_int = Z * (eta_end - eta0_), dp_int2 = Z * (eta_int - dt_ * eta0_);
  for (Index direction = 0; direction < once.cols(); ++direction) {
    MatrixXd dK = MatrixXd::Zero(m, m), dB = MatrixXd::Zero(m, m);
    bool any = false;
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const auto change = materials[k].col(direction);
      if (change.isZero(0.0)) continue;
      any = true;
      const Index first = 3 * static_cast<Index>(k);
      const Vector3d& n = strands_[k].n;
      const bool coordinate = C_(first + 1, first + 1) == 0.0;
      const Matrix3d along = n * n.transpose();
      const Matrix3d across = coordinate ? Matrix3d(Matrix3d::Zero()) : Matrix3d(Matrix3d::Identity() - along);
      dK.block<3, 3>(first, first) = change(0) * along + change(1) * across;
      dB.block<3, 3>(first, first) = change(2) * along + change(3) * across;
    }
    if (!any) continue;
    const MatrixXd Kz = Z.transpose() * dK * Z, Bz = Z.transpose() * dB * Z;
    once.col(direction) -=
        omega_.cwiseProduct(VectorXd((Kz.cwiseProduct(with_eta_) + Bz.cwiseProduct(with_deta_)).rowwise().sum()));
    twice.col(direction) -=
        omega_.cwiseProduct(VectorXd((Kz.cwiseProduct(with_eta2_) + Bz.cwiseProduct(with_deta2_)).rowwise().sum()));
    lam_bar.col(direction) -= (dK * p_int + dB * dp_int) / dt_;
    lam_bar2.col(direction) -= (dK * p_int2 + dB * dp_int2) * (2.0 / (dt_ * dt_));
  }
}

}  // namespace exposim
