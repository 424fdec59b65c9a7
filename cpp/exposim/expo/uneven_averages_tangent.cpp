#include "exposim/expo/uneven_averages_tangent.hpp"

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// A step in panels in each of which what is fastest decays or swings by this at most.
constexpr double kPerPanel = 8.0;
constexpr int kMostPanels = 24;
/// Series are taken so far, and until their terms are rounding.
constexpr double kPerSeries = 2.0, kRounding = 1e-17;
constexpr int kMostTerms = 40;

// Gauss–Legendre, 12 nodes on [−1, 1]: the positive ones.
constexpr std::array<double, 6> kNodes = {0.12523340851146891, 0.36783149899818019, 0.58731795428661745,
                                          0.76990267419430469, 0.90411725637047486, 0.98156063424671925};
constexpr std::array<double, 6> kWeights = {0.24914704581340279, 0.23349253653835481, 0.20316742672306592,
                                            0.16007832854334623, 0.10693932599531843, 0.047175336386511827};

/// The largest eigenvalue of ΥK, K block diagonal and not negative.
double largest(const MatrixXd& Upsilon, const MatrixXd& K) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> root(K);
  const MatrixXd C = root.eigenvectors() * root.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  const MatrixXd both = C.transpose() * Upsilon * C;
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(both, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

}  // namespace

bool UnevenAveragesTangent::begin(const MatrixXd& Upsilon, const std::vector<Holding>& strands, double dt) {
  strands_ = strands;
  dt_ = dt;
  Upsilon_ = Upsilon;
  m_ = 3 * static_cast<Index>(strands.size());
  MatrixXd K = MatrixXd::Zero(m_, m_), B = K;
  Along start;
  start.x.resize(2 * m_);
  b_.setZero(2 * m_);
  for (std::size_t k = 0; k < strands.size(); ++k) {
    const Index first = 3 * static_cast<Index>(k);
    K.block<3, 3>(first, first) = strands[k].K;
    B.block<3, 3>(first, first) = strands[k].B;
    start.x.segment<3>(first) = strands[k].delta_p;
    start.x.segment<3>(m_ + first) = strands[k].delta_dp;
    b_.segment<3>(m_ + first) = strands[k].ddp_bar;
  }
  const double fastest = dt * (largest(Upsilon, B) + std::sqrt(largest(Upsilon, K)));
  const int panels = std::max(1, static_cast<int>(std::ceil(fastest / kPerPanel)));
  if (!(fastest <= kPerPanel * kMostPanels)) return false;
  D_.resize(m_, 2 * m_);
  D_ << -K, -B;
  A_.setZero(2 * m_, 2 * m_);
  A_.topRightCorner(m_, m_).setIdentity();
  A_.bottomRows(m_).noalias() = Upsilon * D_;
  for (MatrixXd* each : {&start.S, &start.S2, &start.S3}) each->setZero(2 * m_, m_);
  for (VectorXd* each : {&start.x_int, &start.x_int2}) each->setZero(2 * m_);

  weights_.clear();
  nodes_.clear();
  Along at = start;
  double now = 0.0;
  const auto go_to = [&](double t) {
    const int parts = std::max(1, static_cast<int>(std::ceil((t - now) / dt * fastest / kPerSeries)));
    for (int i = 0; i < parts; ++i) advance((t - now) / parts, at);
    now = t;
  };
  for (int panel = 0; panel < panels; ++panel) {
    const double half = 0.5 * dt / panels, middle = (2 * panel + 1) * half;
    for (std::size_t node = 0; node < 2 * kNodes.size(); ++node) {
      const bool first = node < kNodes.size();
      const std::size_t which = first ? kNodes.size() - 1 - node : node - kNodes.size();
      go_to(middle + (first ? -half : half) * kNodes[which]);
      weights_.push_back(half * kWeights[which]);
      nodes_.push_back(at);
    }
  }
  go_to(dt);
  end_ = at;
  return true;
}

void UnevenAveragesTangent::advance(double h, Along& at) const {
  // Sums of hʲ/j! of the derivatives; integrals with powers and factorials one and two further.
  MatrixXd G = at.S, next;
  VectorXd g = at.x, g_next;
  at.S3 += h * at.S2;
  at.x_int2 += h * at.x_int;
  double power = 1.0;  // hʲ/j!
  for (int j = 0; j < kMostTerms; ++j) {
    const double once = power * h / (j + 1), twice = once * h / (j + 2);
    if (j > 0) {
      at.S += power * G;
      at.x += power * g;
    }
    at.S2 += once * G;
    at.S3 += twice * G;
    at.x_int += once * g;
    at.x_int2 += twice * g;
    const double term = power * G.cwiseAbs().maxCoeff(), all = at.S.cwiseAbs().maxCoeff();
    if (j > 3 && term <= kRounding * all && power * g.cwiseAbs().maxCoeff() <= kRounding * at.x.cwiseAbs().maxCoeff()) {
      break;
    }
    next.noalias() = A_.transpose() * G;
    g_next.noalias() = A_ * g;
    if (j == 0) {
      next += D_.transpose();
      g_next += b_;
    }
    std::swap(G, next);
    std::swap(g, g_next);
    power *= h / (j + 1);
  }
}

void UnevenAveragesTangent::differentiate(const Tangent& ddp_bar, const Tangent& delta_p, const Tangent& delta_dp,
                                          const std::vector<MatrixXd>* Upsilon_by_q,
                                          const AveragesTangent::AddByQ& add_by_q,
                                          const std::vector<Tangent>& materials, Tangent& lam_bar,
                                          Tangent& lam_bar2) const {
  const auto by_p = [&](const MatrixXd& S) { return RowMatrixXd(S.topRows(m_).transpose()); };
  const auto by_dp = [&](const MatrixXd& S) { return RowMatrixXd(S.bottomRows(m_).transpose()); };
  Tangent once = product(by_p(end_.S), delta_p), twice = product(by_p(end_.S2), delta_p);
  add_product(by_dp(end_.S), delta_dp, once);
  add_product(by_dp(end_.S2), delta_dp, twice);
  add_product(by_dp(end_.S2), ddp_bar, once);
  add_product(by_dp(end_.S3), ddp_bar, twice);
  if (Upsilon_by_q) {
    const auto count = static_cast<Index>(Upsilon_by_q->size());
    MatrixXd by_q = MatrixXd::Zero(m_, count), by_q2 = by_q, pushed(m_, count);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Along& left = nodes_[nodes_.size() - 1 - i];  // as much is left of the step as has passed at that one
      const VectorXd lam = weights_[i] * (D_ * nodes_[i].x);
      for (Index k = 0; k < count; ++k) {
        pushed.col(k).noalias() = (*Upsilon_by_q)[static_cast<std::size_t>(k)].topLeftCorner(m_, m_) * lam;
      }
      by_q.noalias() += left.S.bottomRows(m_).transpose() * pushed;
      by_q2.noalias() += left.S2.bottomRows(m_).transpose() * pushed;
    }
    add_by_q(by_q, once);
    add_by_q(by_q2, twice);
  }
  if (!materials.empty()) add_materials(materials, once, twice);
  lam_bar = once / dt_;
  lam_bar2 = twice * (2.0 / (dt_ * dt_));
}

void UnevenAveragesTangent::add_materials(const std::vector<Tangent>& materials, Tangent& once, Tangent& twice) const {
  for (Index direction = 0; direction < once.cols(); ++direction) {
    MatrixXd changed = MatrixXd::Zero(m_, 2 * m_);  // of D
    bool any = false;
    for (std::size_t k = 0; k < strands_.size(); ++k) {
      const auto change = materials[k].col(direction);
      if (change.head<4>().isZero(0.0)) continue;
      any = true;
      const Index first = 3 * static_cast<Index>(k);
      const Matrix3d along = strands_[k].n * strands_[k].n.transpose();
      const bool coordinate = strands_[k].K(1, 1) == 0.0 && strands_[k].K(2, 2) == 0.0;
      const Matrix3d across = coordinate ? Matrix3d(Matrix3d::Zero()) : Matrix3d(Matrix3d::Identity() - along);
      changed.block<3, 3>(first, first) = -change(0) * along - change(1) * across;
      changed.block<3, 3>(first, m_ + first) = -change(2) * along - change(3) * across;
    }
    if (!any) continue;
    once.col(direction) += changed * end_.x_int;
    twice.col(direction) += changed * end_.x_int2;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Along& left = nodes_[nodes_.size() - 1 - i];
      const VectorXd pushed = Upsilon_ * (weights_[i] * (changed * nodes_[i].x));
      once.col(direction) += left.S.bottomRows(m_).transpose() * pushed;
      twice.col(direction) += left.S2.bottomRows(m_).transpose() * pushed;
    }
  }
}

}  // namespace exposim
