#include "exposim/kernels/series.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/kernels/series_loops.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// By which terms may outgrow the first ones.
constexpr double kMostGrowth = 1e3;

template <int Size>
void multiply(const DiagonalBlock& block, const double* x, double* product) {
  using Vector = Eigen::Matrix<double, Size, 1>;
  const Eigen::Map<const Vector> from(x + block.first);
  Eigen::Map<Vector>(product + block.first).noalias() = block.values.topLeftCorner<Size, Size>() * from;
}

/// B x for a matrix of blocks.
void multiply(const std::vector<DiagonalBlock>& B, const VectorXd& x, VectorXd& product) {
  product.resize(x.size());
  for (const DiagonalBlock& block : B) {
    if (block.size == 3) {
      multiply<3>(block, x.data(), product.data());
    } else if (block.size == 6) {
      multiply<6>(block, x.data(), product.data());
    } else {
      product(block.first) = block.values(0, 0) * x(block.first);
    }
  }
}

/// Bound of the eigenvalues of Υ K: sums of the rows' magnitudes, in coordinates in which K has ones on its diagonal.
double norm_of(Index n, const std::vector<double>& UK, const std::vector<DiagonalBlock>& K, std::vector<double>& w,
               std::vector<double>& sums) {
  for (const DiagonalBlock& block : K) {
    for (Index i = 0; i < block.size; ++i) {
      const double stiffness = block.values(i, i);
      w[block.first + i] = stiffness > 0.0 ? 1.0 / std::sqrt(stiffness) : 0.0;
    }
  }
  std::fill_n(sums.begin(), kFour * fours(n), 0.0);
  add_magnitudes(n, UK.data(), w.data(), sums.data());
  double largest = 0.0;
  for (const DiagonalBlock& block : K) {
    for (Index i = 0; i < block.size; ++i) {
      largest = std::max(largest, sums[block.first + i] * w[block.first + i] * block.values(i, i));
    }
  }
  return largest;
}

}  // namespace

void SeriesKernel::load(const System& system) {
  const std::size_t stride = static_cast<std::size_t>(kFour * fours(n_)), size = static_cast<std::size_t>(n_) * stride;
  Upsilon_.resize(size);
  UK_.resize(size);
  w_.resize(stride);
  x_.resize(stride);
  sums_.resize(4 * stride);
  for (Index j = 0; j < n_; ++j) {
    double* const column = Upsilon_.data() + j * static_cast<Index>(stride);
    const double* const from = system.Upsilon.data() + j * system.Upsilon.rows();
    std::copy(from, from + n_, column);
    std::fill(column + n_, column + stride, 0.0);
  }
  set_product(n_, Upsilon_.data(), system.K.data(), system.K.size(), UK_.data());
  norm_K_ = norm_of(n_, UK_, system.K, w_, sums_);
  norm_B_ = system.c * norm_K_;
  if (!system.B) return;
  UB_.resize(size);
  set_product(n_, Upsilon_.data(), system.B->data(), system.B->size(), UB_.data());
  norm_B_ = norm_of(n_, UB_, *system.B, w_, sums_);
}

bool SeriesKernel::compute(const System& system, const Start& start, bool forced, double t) {
  n_ = start.rows();
  t_ = t;
  K_ = &system.K;
  c_ = system.c;
  proportional_ = system.B == nullptr;
  load(system);
  const double width = t * norm_B_, height = t * std::sqrt(norm_K_);
  // Where B = cK and the fastest do not swing, eigenvalues off the real axis are on a circle: less far.
  const bool on_circle = proportional_ && width >= 2.0 * height;
  series_ = &table_.around({0.5 * width, on_circle ? std::sqrt(0.5) * height : height});
  if (series_->terms < 2) return false;

  instants_.resize(kLast + 1);
  known_ = 1U | (1U << kLast);
  if (forced) known_ = ~std::size_t{0};
  rated_ = 0;
  Instant &first = instants_.front(), &last = instants_.back();
  first.s = 0.0;
  last.s = t;
  first.y = start.col(0);
  first.dy = start.col(1);
  f0_ = start.col(2);
  f1_ = start.col(3);
  acceleration_ = f0_;
  if (proportional_) {
    along_ = first.y + c_ * first.dy;
    subtract_product(UK_, along_, acceleration_);
  } else {
    subtract_product(UK_, first.y, acceleration_);
    subtract_product(UB_, first.dy, acceleration_);
  }
  along_ = t * first.dy;
  jerk_ = (t * t) * acceleration_;
  if (!expand(along_, jerk_)) return false;

  const Index stride = kFour * fours(n_);
  const auto summed = [&](Index i) { return Eigen::Map<const VectorXd>(sums_.data() + i * stride, n_); };
  const auto& phi = series_->phi;
  sum_series(n_, series_->terms, terms_.data(), phi[0].data(), phi[1].data(), phi[2].data(), sums_.data());
  last.y = first.y + summed(0);
  last.dy = first.dy + summed(3) / t;
  result_.resize(n_, 4);
  result_.col(0) = t * (first.y + summed(1));
  result_.col(1) = summed(0);
  result_.col(2) = (t * t) * (0.5 * first.y + summed(2));
  result_.col(3) = t * summed(1);
  if (!forced) return true;

  // x'(0) knows nothing of f₁, whose part has a series of its own.
  along_.setZero();
  jerk_ = (t * t * t) * f1_;
  if (!expand(along_, jerk_)) return false;
  sum_series(n_, series_->terms, terms_.data(), phi[1].data(), phi[2].data(), phi[3].data(), sums_.data());
  last.y += summed(0);
  last.dy += summed(3) / t;
  result_.col(0) += t * summed(1);
  result_.col(1) += summed(0);
  result_.col(2) += (t * t) * summed(2);
  result_.col(3) += t * summed(1);
  return true;
}

bool SeriesKernel::expand(const VectorXd& y, const VectorXd& dy) {
  const std::size_t stride = static_cast<std::size_t>(kFour * fours(n_)), step = 2 * stride;
  terms_.resize(std::max(terms_.size(), FaberSeries::kMostTerms * step));
  std::fill_n(terms_.begin(), step, 0.0);
  std::copy(y.data(), y.data() + n_, terms_.begin());
  std::copy(dy.data(), dy.data() + n_, terms_.begin() + static_cast<Index>(stride));
  const double rho = series_->ellipse.rho();
  const FaberRecursion by{t_ * t_ / rho, (proportional_ ? c_ : 1.0) * t_ / rho, series_->ellipse.real / rho, 1.0 / rho,
                          series_->ellipse.s()};
  expand_series(n_, UK_.data(), proportional_ ? nullptr : UB_.data(), by, series_->terms, terms_.data(), w_.data());

  const double balance = t_ * t_ * norm_K_;  // of squares of y beside those of t y'
  const auto size_of = [&](std::size_t k) {
    const Eigen::Map<const Eigen::ArrayXd> both(terms_.data() + k * step, static_cast<Index>(step));
    const Index half = static_cast<Index>(stride);
    return balance * both.head(half).square().sum() + both.tail(half).square().sum();
  };
  const std::size_t last = series_->terms - 1;
  return size_of(last) + size_of(last - 1) <= kMostGrowth * kMostGrowth * (size_of(0) + size_of(1));
}

void SeriesKernel::find(std::size_t i) {
  if ((known_ >> i & 1U) != 0) return;
  FaberTable::sample(*series_);
  const double* const coefficients = series_->at_times[i - 1].data();
  sum_motion(n_, series_->terms, terms_.data(), coefficients, sums_.data());
  Instant& instant = instants_[i];
  instant.s = series_->times[i - 1] * t_;
  instant.y = instants_.front().y + Eigen::Map<const VectorXd>(sums_.data(), n_);
  instant.dy = instants_.front().dy + Eigen::Map<const VectorXd>(sums_.data() + kFour * fours(n_), n_) / t_;
  known_ |= std::size_t{1} << i;
}

const SeriesKernel::Instant& SeriesKernel::at(std::size_t i) {
  find(i);
  return instants_[i];
}

const SeriesKernel::Instant& SeriesKernel::rates_at(std::size_t i) {
  find(i);
  if ((rated_ >> i & 1U) == 0) {
    find_rates(instants_[i]);
    rated_ |= std::size_t{1} << i;
  }
  return instants_[i];
}

void SeriesKernel::subtract_product(const std::vector<double>& A, const VectorXd& w, VectorXd& x) {
  std::fill(x_.begin(), x_.end(), 0.0);
  subtract_columns(n_, A.data(), w.data(), x_.data());
  x += Eigen::Map<const VectorXd>(x_.data(), n_);
}

void SeriesKernel::find_rates(Instant& instant) {
  // What springs and dampers take from the velocity, then from the acceleration.
  VectorXd& springs = along_;
  acceleration_ = f0_ + instant.s * f1_;
  subtract_product(UK_, instant.y, acceleration_);
  multiply(*K_, acceleration_, weighted_);
  instant.unbraked = weighted_.dot(acceleration_);
  springs.setZero(n_);
  subtract_product(UK_, instant.dy, springs);
  if (proportional_) {
    acceleration_ += c_ * springs;
  } else {
    subtract_product(UB_, instant.dy, acceleration_);
  }
  jerk_ = f1_ + springs;
  multiply(*K_, instant.dy, weighted_);
  instant.velocity = weighted_.dot(instant.dy);
  instant.strain_rate = -weighted_.dot(springs);

  multiply(*K_, acceleration_, weighted_);
  instant.acceleration = weighted_.dot(acceleration_);
  springs.setZero(n_);
  subtract_product(UK_, acceleration_, springs);
  instant.strain_acceleration = -weighted_.dot(springs);
  if (proportional_) {
    jerk_ += c_ * springs;
  } else {
    subtract_product(UB_, acceleration_, jerk_);
  }
  multiply(*K_, jerk_, weighted_);
  instant.jerk = weighted_.dot(jerk_);
}

}  // namespace exposim
