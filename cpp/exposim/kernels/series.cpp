#include "exposim/kernels/series.hpp"

#include <algorithm>
#include <cmath>

// The same operations in the same order, four at a time where the machine can: the same bits.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define EXPOSIM_FOR_EACH_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define EXPOSIM_FOR_EACH_MACHINE
#endif

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr Index kFour = 4;
/// By which terms may outgrow the first ones.
constexpr double kMostGrowth = 1e3;
using Four = double __attribute__((vector_size(kFour * sizeof(double)), aligned(sizeof(double)), may_alias));

constexpr Index fours(Index n) { return (n + kFour - 1) / kFour; }

#define EXPOSIM_INLINE inline __attribute__((always_inline))
#define EXPOSIM_INLINE_CALL __attribute__((always_inline))

EXPOSIM_INLINE const Four* in_fours(const double* x) { return reinterpret_cast<const Four*>(x); }
EXPOSIM_INLINE Four* in_fours(double* x) { return reinterpret_cast<Four*>(x); }

/// The loops below for columns of so many fours, or of any number (0).
template <Index Fours>
struct Columns {
  Index any;

  EXPOSIM_INLINE Index count() const { return Fours > 0 ? Fours : any; }
  EXPOSIM_INLINE Index stride() const { return kFour * count(); }

  /// x −= A w, in halves that do not wait for each other.
  EXPOSIM_INLINE void subtract_product(Index n, const double* A, const double* w, double* x) const {
    if constexpr (Fours > 0) {
      Four odd[Fours], even[Fours];
      for (Index i = 0; i < Fours; ++i) {
        even[i] = in_fours(x)[i];
        odd[i] = Four{0.0, 0.0, 0.0, 0.0};
      }
      Index j = 0;
      for (; j + 1 < n; j += 2, A += 2 * stride()) {
        for (Index i = 0; i < Fours; ++i) even[i] -= w[j] * in_fours(A)[i];
        for (Index i = 0; i < Fours; ++i) odd[i] -= w[j + 1] * in_fours(A + stride())[i];
      }
      if (j < n) {
        for (Index i = 0; i < Fours; ++i) even[i] -= w[j] * in_fours(A)[i];
      }
      for (Index i = 0; i < Fours; ++i) in_fours(x)[i] = even[i] + odd[i];
    } else {
      for (Index j = 0; j < n; ++j, A += stride()) {
        for (Index i = 0; i < count(); ++i) in_fours(x)[i] -= w[j] * in_fours(A)[i];
      }
    }
  }

  /// A B of a matrix of blocks.
  EXPOSIM_INLINE void set_product(const double* A, const DiagonalBlock* B, std::size_t blocks, double* product) const {
    for (const DiagonalBlock* block = B; block != B + blocks; ++block) {
      for (Index j = 0; j < block->size; ++j) {
        double* const column = product + (block->first + j) * stride();
        for (Index i = 0; i < count(); ++i) in_fours(column)[i] = Four{0.0, 0.0, 0.0, 0.0};
        for (Index k = 0; k < block->size; ++k) {
          const double factor = block->values(k, j);
          if (factor == 0.0) continue;
          const double* const from = A + (block->first + k) * stride();
          for (Index i = 0; i < count(); ++i) in_fours(column)[i] += factor * in_fours(from)[i];
        }
      }
    }
  }

  /// sums += |A| w
  EXPOSIM_INLINE void add_magnitudes(Index n, const double* A, const double* w, double* sums) const {
    for (Index j = 0; j < n; ++j, A += stride()) {
      for (Index i = 0; i < count(); ++i) {
        const Four a = in_fours(A)[i];
        in_fours(sums)[i] += w[j] * (a < 0.0 ? -a : a);
      }
    }
  }

  /// F_{k+1} = (A − z₀)/ρ F_k − s F_{k−1}, from the terms F₀ and F₁ = (A − z₀)/ρ F₀ on.
  struct Recursion {
    double by_y, by_dy;  ///< t²/ρ, and t/ρ or tc/ρ
    double shift;        ///< −z₀/ρ
    double inverse;      ///< 1/ρ
    double s;
  };
  EXPOSIM_INLINE void expand(Index n, const double* UK, const double* UB, const Recursion& by, std::size_t terms,
                             double* x, double* w) const {
    const Index step = 2 * stride();
    for (std::size_t k = 0; k + 1 < terms; ++k, x += step) {
      const double s = k == 1 ? 2.0 * by.s : by.s;
      const Four *const y = in_fours(x), *const dy = in_fours(x + stride());
      double* const next = x + step;
      Four *const y_next = in_fours(next), *const dy_next = in_fours(next + stride());
      for (Index i = 0; i < count(); ++i) {
        y_next[i] = by.shift * y[i] + by.inverse * dy[i];
        dy_next[i] = by.shift * dy[i];
        in_fours(w)[i] = UB ? by.by_y * y[i] : by.by_y * y[i] + by.by_dy * dy[i];
      }
      if (k > 0) {
        const Four *const y_last = in_fours(x - step), *const dy_last = in_fours(x - stride());
        for (Index i = 0; i < count(); ++i) {
          y_next[i] -= s * y_last[i];
          dy_next[i] -= s * dy_last[i];
        }
      }
      subtract_product(n, UK, w, next + stride());
      if (!UB) continue;
      for (Index i = 0; i < count(); ++i) in_fours(w)[i] = by.by_dy * dy[i];
      subtract_product(n, UB, w, next + stride());
    }
  }

  /// Sums of y and dy.
  EXPOSIM_INLINE void sum_motion(std::size_t terms, const double* x, const double* factors, double* sums) const {
    for (Index i = 0; i < 2 * count(); ++i) {
      Four sum = {0.0, 0.0, 0.0, 0.0};
      const double* from = x;
      for (std::size_t k = 0; k < terms; ++k, from += 2 * stride()) sum += factors[k] * in_fours(from)[i];
      in_fours(sums)[i] = sum;
    }
  }

  /// Sums of y with three, and of dy with the first, of three series.
  EXPOSIM_INLINE void sum(std::size_t terms, const double* x, const double* first, const double* second,
                          const double* third, double* sums) const {
    for (Index i = 0; i < count(); ++i) {
      Four a = {0.0, 0.0, 0.0, 0.0}, b = a, c = a, d = a;
      const double* from = x;
      for (std::size_t k = 0; k < terms; ++k, from += 2 * stride()) {
        const Four y = in_fours(from)[i], dy = in_fours(from + stride())[i];
        a += first[k] * y;
        b += second[k] * y;
        c += third[k] * y;
        d += first[k] * dy;
      }
      in_fours(sums)[i] = a;
      in_fours(sums + stride())[i] = b;
      in_fours(sums + 2 * stride())[i] = c;
      in_fours(sums + 3 * stride())[i] = d;
    }
  }
};

/// Calls f with the columns of n rows: of a length that the compiler knows, for as many as robots have.
template <typename Function>
EXPOSIM_INLINE auto with_columns(Index n, Function&& f) {
  switch (fours(n)) {
    case 1:
      return f(Columns<1>{1});
    case 2:
      return f(Columns<2>{2});
    case 3:
      return f(Columns<3>{3});
    default:
      return f(Columns<0>{fours(n)});
  }
}

EXPOSIM_FOR_EACH_MACHINE
void set_product(Index n, const double* A, const DiagonalBlock* B, std::size_t blocks, double* product) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.set_product(A, B, blocks, product); });
}

EXPOSIM_FOR_EACH_MACHINE
void add_magnitudes(Index n, const double* A, const double* w, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.add_magnitudes(n, A, w, sums); });
}

EXPOSIM_FOR_EACH_MACHINE
void subtract_columns(Index n, const double* A, const double* w, double* x) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.subtract_product(n, A, w, x); });
}

EXPOSIM_FOR_EACH_MACHINE
void expand_series(Index n, const double* UK, const double* UB, const Columns<0>::Recursion& by, std::size_t terms,
                   double* x, double* w) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL {
    columns.expand(n, UK, UB, {by.by_y, by.by_dy, by.shift, by.inverse, by.s}, terms, x, w);
  });
}

EXPOSIM_FOR_EACH_MACHINE
void sum_series(Index n, std::size_t terms, const double* x, const double* first, const double* second,
                const double* third, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.sum(terms, x, first, second, third, sums); });
}

EXPOSIM_FOR_EACH_MACHINE
void sum_motion(Index n, std::size_t terms, const double* x, const double* factors, double* sums) {
  with_columns(n, [&](const auto columns) EXPOSIM_INLINE_CALL { columns.sum_motion(terms, x, factors, sums); });
}

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
  const Columns<0>::Recursion by{t_ * t_ / rho, (proportional_ ? c_ : 1.0) * t_ / rho, series_->ellipse.real / rho,
                                 1.0 / rho, series_->ellipse.s()};
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
