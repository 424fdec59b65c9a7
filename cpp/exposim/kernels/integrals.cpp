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

void IntegralKernel::resize(Eigen::Index n) {
  if (n == n_) return;
  n_ = n;
  const Eigen::Index size = n + 3;
  A_bar_.setZero(size, size);
  scaling_.resize(size);
  lu_ = Eigen::PartialPivLU<Eigen::MatrixXd>(size);
  exponential_.resize(size, size);
  squared_.resize(size, size);
  action_.resize(size, 2);
}

void IntegralKernel::compute(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& x0, double t) {
  const Eigen::Index n = A.rows();
  resize(n);
  A_bar_.topLeftCorner(n, n) = t * A;
  A_bar_.col(n).head(n) = t * b;
  A_bar_.col(n + 1).head(n) = t * x0;
  A_bar_.rightCols<3>().bottomRows<3>() << 0, t, 0, 0, 0, t, 0, 0, 0;
  A_bar_.col(n + 2).head(n).setZero();
  A_bar_.leftCols(n).bottomRows<3>().setZero();

  if (options_.balance) {
    balance(A_bar_, scaling_);
  } else {
    scaling_.setOnes();
  }

  if (options_.method == KernelOptions::Method::kPade) {
    act_by_pade(options_.degree);
  } else {
    act_by_scaling_and_squaring();
  }
  action_.array().colwise() *= scaling_.array();
  action_.col(0) /= scaling_(n + 1);
  action_.col(1) /= scaling_(n + 2);
}

void IntegralKernel::act_by_pade(int degree) {
  info_ = {degree, 0, pade_.evaluate(A_bar_, degree)};
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
  info_ = {last.degree, squarings, pade_.evaluate(A_bar_, last.degree)};
  lu_.compute(pade_.denominator());
  exponential_ = lu_.solve(pade_.numerator());
  for (int i = 1; i < squarings; ++i) {
    squared_.noalias() = exponential_ * exponential_;
    exponential_.swap(squared_);
    ++info_.products;
  }
  // Two columns of the last square are all that is asked for.
  action_.noalias() = exponential_ * exponential_.rightCols<2>();
}

}  // namespace exposim
