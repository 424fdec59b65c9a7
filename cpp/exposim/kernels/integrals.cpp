#include "exposim/kernels/integrals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

#include "exposim/kernels/balance.hpp"

namespace exposim {
namespace {

/// Largest 1-norm for which a Padé approximant is exact to double precision (Higham 2005, table 2.3).
struct PadeRange {
  int degree;
  double norm;
};
constexpr PadeRange kPadeRanges[] = {{3, 1.495585217958292e-2},
                                     {5, 2.539398330063230e-1},
                                     {7, 9.504178996162932e-1},
                                     {9, 2.097847961257068e0},
                                     {13, 5.371920351148152e0}};

double one_norm(const Eigen::MatrixXd& A) { return A.cwiseAbs().colwise().sum().maxCoeff(); }

}  // namespace

IntegralKernel::IntegralKernel(KernelOptions options) : options_(options) {
  const std::array<int, 5> degrees{1, 2, 3, 5, 7};
  if (options_.method == KernelOptions::Method::kPade &&
      std::find(degrees.begin(), degrees.end(), options_.degree) == degrees.end()) {
    throw std::invalid_argument("Padé degree " + std::to_string(options_.degree) + " is not one of 1, 2, 3, 5, 7");
  }
}

void IntegralKernel::compute(const Eigen::MatrixXd& A, const Eigen::MatrixXd& W, double t) {
  prepare(A, W, t);
  act(options_.method == KernelOptions::Method::kPade ? options_.degree : 0);
}

void IntegralKernel::prepare(const Eigen::MatrixXd& A, const Eigen::MatrixXd& W, double t) {
  if (A.rows() != n_ || W.cols() + 1 != m_) {
    n_ = A.rows();
    m_ = W.cols() + 1;
    const Eigen::Index size = n_ + m_;
    A_bar_.resize(size, size);
    scaling_.resize(size);
    lu_ = Eigen::PartialPivLU<Eigen::MatrixXd>(size);
    exponential_.resize(size, size);
    squared_.resize(size, size);
    action_.resize(size, 2);
  }
  A_bar_.topLeftCorner(n_, n_) = t * A;
  A_bar_.block(0, n_, n_, m_ - 1) = t * W;
  A_bar_.col(n_ + m_ - 1).setZero();
  A_bar_.bottomRows(m_).setZero();
  for (Eigen::Index i = n_; i + 1 < n_ + m_; ++i) A_bar_(i, i + 1) = t;

  if (options_.balance) {
    balance(A_bar_, scaling_);
  } else {
    scaling_.setOnes();
  }
  pade_.set_companion(companion_ ? n_ / 2 : 0);
  norm_ = square_norm_ = A_bar_.topLeftCorner(n_, n_).cwiseAbs().colwise().sum().maxCoeff();
  squared_once_ = false;
}

double IntegralKernel::square_norm() {
  if (!squared_once_) {
    const double square = pade_.square(A_bar_).topLeftCorner(n_, n_).cwiseAbs().colwise().sum().maxCoeff();
    square_norm_ = std::min(norm_, std::sqrt(square));
    squared_once_ = true;
  }
  return square_norm_;
}

void IntegralKernel::act(int degree) {
  if (degree > 0) {
    act_by_pade(degree);
  } else {
    act_by_scaling_and_squaring();
  }
  balanced_ = action_;
  action_.array().colwise() *= scaling_.array();
  action_.col(0) /= scaling_(n_ + m_ - 2);
  action_.col(1) /= scaling_(n_ + m_ - 1);
}

Eigen::Vector2d IntegralKernel::error_bounds(int degree, const Eigen::VectorXd& weights) {
  // The approximant is e^{X + ΔX}, ΔX = Σ c_k Xᵏ from k = 2j + 1 on, so the error is (I − e^{−ΔX}) R of the result R.
  // With X = [A W; 0 N], Xᵏ has Aᵏ above and Σ_i Aᵏ⁻¹⁻ⁱ W Nⁱ beside it, and N^m = 0: the norms of A alone are at work
  // (‖Aᵏ‖ ≤ ‖A‖ α^{k−1} with α = ‖A²‖^½ for odd k, α^k for even k).
  const double eta = pade_backward_error(degree, norm_, square_norm_);
  Eigen::Vector2d bound = std::expm1(eta) * balanced_.topRows(n_).cwiseAbs().colwise().sum().transpose();
  shifted_ = balanced_.bottomRows(m_);
  double power = square_norm_;
  for (Eigen::Index i = 0; i < m_; ++i, power *= square_norm_) {
    if (power == 0.0) break;
    beside_.resize(n_, 2);
    beside_.noalias() = A_bar_.topRightCorner(n_, m_) * shifted_;
    bound += std::exp(eta) * eta / power * beside_.cwiseAbs().colwise().sum().transpose();
    shifting_.resize(m_, 2);
    shifting_.noalias() = A_bar_.bottomRightCorner(m_, m_) * shifted_;
    shifted_.swap(shifting_);
  }
  // Rounding: of the solve, roughly.
  bound += 1e-15 * static_cast<double>(n_) * balanced_.topRows(n_).cwiseAbs().colwise().sum().transpose();
  const double largest = weights.cwiseProduct(scaling_.head(n_)).maxCoeff();
  return largest * Eigen::Vector2d(bound(0) / scaling_(n_ + m_ - 2), bound(1) / scaling_(n_ + m_ - 1));
}

double pade_backward_error(int degree, double norm, double square_norm) {
  struct Series {
    int degree;
    double leading;  // of log(e^{−x} N(x)/D(x)): (j!)²/((2j)! (2j+1)!)
    double root;     // smallest modulus of a root of N
  };
  constexpr std::array<Series, 5> kSeries{{{1, 1.0 / 12.0, 2.0},
                                           {2, 1.0 / 720.0, 3.4641},
                                           {3, 1.0 / 100800.0, 4.6443},
                                           {5, 9.9417e-11, 7.2934},
                                           {7, 2.2284e-16, 9.9435}}};
  const auto found =
      std::find_if(kSeries.begin(), kSeries.end(), [degree](const Series& s) { return s.degree == degree; });
  const double infinity = std::numeric_limits<double>::infinity();
  if (found == kSeries.end() || !(square_norm < 0.9 * found->root)) return infinity;
  // The k-th coefficient is −2/k Σ z⁻ᵏ over the j roots z of N, k odd: a geometric tail behind the leading term.
  const int first = 2 * degree + 1;
  const double ratio = square_norm / found->root;
  const double tail =
      norm / found->root * 2.0 * degree / (first + 2) * std::pow(ratio, first + 1) / (1.0 - ratio * ratio);
  return found->leading * norm * std::pow(square_norm, first - 1) + tail;
}

void IntegralKernel::act_by_pade(int degree) {
  info_ = {degree, 0, pade_.evaluate(A_bar_, degree, squared_once_), 0.0};
  lu_.compute(pade_.denominator());
  action_ = lu_.solve(pade_.numerator().rightCols<2>());
}

void IntegralKernel::act_by_scaling_and_squaring() {
  const double norm = one_norm(A_bar_);
  if (!std::isfinite(norm)) {
    info_ = {};
    action_.setConstant(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (const PadeRange& range : kPadeRanges) {
    if (norm <= range.norm) return act_by_pade(range.degree);
  }

  const PadeRange& last = kPadeRanges[std::size(kPadeRanges) - 1];
  const int squarings = std::max(1, static_cast<int>(std::ceil(std::log2(norm / last.norm))));
  A_bar_ *= std::ldexp(1.0, -squarings);
  info_ = {last.degree, squarings, pade_.evaluate(A_bar_, last.degree), 0.0};
  lu_.compute(pade_.denominator());
  exponential_ = lu_.solve(pade_.numerator());
  for (int i = 1; i < squarings; ++i) {
    squared_.topRows(n_).noalias() = exponential_.topRows(n_) * exponential_;
    squared_.bottomLeftCorner(m_, n_).setZero();  // as it is in every power of Ā
    squared_.bottomRightCorner(m_, m_).noalias() =
        exponential_.bottomRightCorner(m_, m_) * exponential_.bottomRightCorner(m_, m_);
    exponential_.swap(squared_);
    ++info_.products;
  }
  // Two columns of the last square are all that is asked for.
  action_.noalias() = exponential_ * exponential_.rightCols<2>();
}

}  // namespace exposim
