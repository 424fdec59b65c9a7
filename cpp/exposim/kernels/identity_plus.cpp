#include "exposim/kernels/identity_plus.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// A block whose own equation has a smaller determinant waits until the others are attached.
constexpr double kSmallDeterminant = 0.5;
/// Without exchanges of rows, multipliers up to here are no harm.
constexpr double kLargeMultiplier = 1e3;

EXPOSIM_INLINE double magnitude(double x) { return __builtin_fabs(x); }

/// A matrix of at most 6 × 6, column by column, these filled up to whole fours.
template <Index Size>
struct Small {
  static constexpr Index kFours = fours(Size), kStride = kFour * kFours;
  double values[static_cast<std::size_t>(Size * kStride)];  // NOLINT: std::array hides it from the vectoriser

  EXPOSIM_INLINE double* column(Index j) { return values + j * kStride; }
  EXPOSIM_INLINE double& operator()(Index i, Index j) { return values[j * kStride + i]; }
};

/// Inverts a small matrix in place, with rows exchanged where they must be. @return the determinant.
template <Index Size>
double invert_with_exchanges(Small<Size>& T) {
  std::array<Index, static_cast<std::size_t>(Size)> exchanged;
  double determinant = 1.0;
  for (Index k = 0; k < Size; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < Size; ++i) {
      if (std::abs(T(i, k)) > std::abs(T(pivot, k))) pivot = i;
    }
    exchanged[static_cast<std::size_t>(k)] = pivot;
    if (pivot != k) {
      determinant = -determinant;
      for (Index j = 0; j < Size; ++j) std::swap(T(k, j), T(pivot, j));
    }
    determinant *= T(k, k);
    const double inverse = 1.0 / T(k, k);
    T(k, k) = 1.0;
    for (Index j = 0; j < Size; ++j) T(k, j) *= inverse;
    for (Index i = 0; i < Size; ++i) {
      if (i == k) continue;
      const double factor = T(i, k);
      T(i, k) = 0.0;
      for (Index j = 0; j < Size; ++j) T(i, j) -= factor * T(k, j);
    }
  }
  for (Index k = Size; k-- > 0;) {
    const Index pivot = exchanged[static_cast<std::size_t>(k)];
    if (pivot == k) continue;
    for (Index i = 0; i < Size; ++i) std::swap(T(i, k), T(i, pivot));
  }
  return determinant;
}

/// Unit vectors: the k-th begins at 8 − k.
constexpr double kUnits[16] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};

/// The same without exchanges, while no multiplier is large.
template <Index Size>
EXPOSIM_INLINE double invert(Small<Size>& T) {
  constexpr Index kFours = Small<Size>::kFours;
  const Small<Size> given = T;
  double determinant = 1.0;
  for (Index k = 0; k < Size; ++k) {
    const double pivot = T(k, k), inverse = 1.0 / pivot;
    determinant *= pivot;
    double most = 0.0;
    for (Index i = k + 1; i < Size; ++i) most = most > magnitude(T(i, k)) ? most : magnitude(T(i, k));
    if (!(most < kLargeMultiplier * magnitude(pivot))) {
      T = given;
      return invert_with_exchanges<Size>(T);
    }
    const Four* const unit = reinterpret_cast<const Four*>(kUnits + 8 - k);
    Four multipliers[kFours];
    for (Index i = 0; i < kFours; ++i) {
      Four& column = reinterpret_cast<Four*>(T.column(k))[i];
      multipliers[i] = column - pivot * unit[i];
      column = inverse * (unit[i] - multipliers[i]);
    }
    for (Index j = 0; j < Size; ++j) {
      if (j == k) continue;
      const double before = T(k, j), row = inverse * before;
      for (Index i = 0; i < kFours; ++i) {
        reinterpret_cast<Four*>(T.column(j))[i] += (row - before) * unit[i] - row * multipliers[i];
      }
    }
  }
  return determinant;
}

/// By cofactors, none of which waits for another.
template <>
EXPOSIM_INLINE double invert<3>(Small<3>& T) {
  const double a = T(0, 0), b = T(1, 0), c = T(2, 0), d = T(0, 1), e = T(1, 1), f = T(2, 1);
  const double g = T(0, 2), h = T(1, 2), i = T(2, 2);
  const double A = e * i - f * h, B = c * h - b * i, C = b * f - c * e;
  const double determinant = a * A + d * B + g * C, inverse = 1.0 / determinant;
  T = {{A, B, C, 0.0, f * g - d * i, a * i - c * g, c * d - a * f, 0.0, d * h - e * g, b * g - a * h, a * e - b * d,
        0.0}};
  for (Index j = 0; j < 3; ++j) *reinterpret_cast<Four*>(T.column(j)) *= inverse;
  return determinant;
}

/// The loops below for columns of so many fours, or of any number (0).
template <Index Fours>
struct Columns {
  Index any;

  EXPOSIM_INLINE Index count() const { return Fours > 0 ? Fours : any; }
  EXPOSIM_INLINE Index stride() const { return kFour * count(); }

  /// E = Q (I + X_ii Q)⁻¹ of a block. @return the determinant of what is inverted.
  template <Index Size>
  EXPOSIM_INLINE double reaction(const DiagonalBlock& block, const double* X, Small<Size>& E) const {
    constexpr Index kFours = Small<Size>::kFours;
    const double* const Q = block.values.data();
    Small<Size> T;
    for (Index j = 0; j < Size; ++j) {
      const Four* const unit = reinterpret_cast<const Four*>(kUnits + 8 - j);
      for (Index i = 0; i < kFours; ++i) {
        Four sum = unit[i];
        for (Index k = 0; k < Size; ++k) {
          sum += Q[8 * j + k] * reinterpret_cast<const Four*>(X + (block.first + k) * stride() + block.first)[i];
        }
        reinterpret_cast<Four*>(T.column(j))[i] = sum;
      }
    }
    const double determinant = invert<Size>(T);
    for (Index j = 0; j < Size; ++j) {
      for (Index i = 0; i < kFours; ++i) {
        Four sum = {0.0, 0.0, 0.0, 0.0};
        for (Index k = 0; k < Size; ++k) sum += T(k, j) * reinterpret_cast<const Four*>(Q + 8 * k)[i];
        reinterpret_cast<Four*>(E.column(j))[i] = sum;
      }
    }
    return determinant;
  }

  /// Attaches a block to `from`, which may be X itself, unless its determinant is too small and it may wait.
  /// @return the determinant, zero if it waits.
  template <Index Size>
  EXPOSIM_INLINE double attach(const DiagonalBlock& block, Index n, bool may_wait, const double* from, double* X,
                               double* columns) const {
    Small<Size> E;
    const double determinant = reaction<Size>(block, from, E);
    if (may_wait && !(determinant >= kSmallDeterminant)) return 0.0;
    for (Index i = 0; i < count(); ++i) {  // X_i E
      for (Index j = 0; j < Size; ++j) {
        Four sum = {0.0, 0.0, 0.0, 0.0};
        for (Index k = 0; k < Size; ++k) {
          sum += E(k, j) * reinterpret_cast<const Four*>(from + (block.first + k) * stride())[i];
        }
        reinterpret_cast<Four*>(columns + j * stride())[i] = sum;
      }
    }
    for (Index j = 0; j < n; ++j) {
      const double* const before = from + j * stride();
      double* const column = X + j * stride();
      double felt[Size];
      for (Index k = 0; k < Size; ++k) felt[k] = before[block.first + k];
      if constexpr (Fours == 0) {  // of many, most feel nothing
        double any = from == X ? 0.0 : 1.0;
        for (Index k = 0; k < Size; ++k) any += magnitude(felt[k]);
        if (any == 0.0) continue;
      }
      for (Index i = 0; i < count(); ++i) {
        Four rest = reinterpret_cast<const Four*>(before)[i];
        for (Index k = 0; k < Size; ++k) rest -= felt[k] * reinterpret_cast<const Four*>(columns + k * stride())[i];
        reinterpret_cast<Four*>(column)[i] = rest;
      }
    }
    return determinant;
  }

  EXPOSIM_INLINE void apply(Index n, const double* X, const double* w, double* x) const {
    if constexpr (Fours > 0) {
      Four sum[Fours] = {};  // NOLINT
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < Fours; ++i) sum[i] += w[j] * reinterpret_cast<const Four*>(X + j * stride())[i];
      }
      for (Index i = 0; i < Fours; ++i) reinterpret_cast<Four*>(x)[i] = sum[i];
    } else {
      for (Index i = 0; i < count(); ++i) reinterpret_cast<Four*>(x)[i] = Four{0.0, 0.0, 0.0, 0.0};
      for (Index j = 0; j < n; ++j) {
        if (w[j] == 0.0) continue;
        for (Index i = 0; i < count(); ++i) {
          reinterpret_cast<Four*>(x)[i] += w[j] * reinterpret_cast<const Four*>(X + j * stride())[i];
        }
      }
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
    case 6:
      return f(Columns<6>{6});
    default:
      return f(Columns<0>{fours(n)});
  }
}

EXPOSIM_FOR_EACH_MACHINE
double attach_block(Index n, const DiagonalBlock& block, bool may_wait, const double* from, double* X,
                    double* columns) {
  return with_columns(n, [&](const auto each) EXPOSIM_INLINE_CALL {
    if (block.size == 3) return each.template attach<3>(block, n, may_wait, from, X, columns);
    if (block.size == 6) return each.template attach<6>(block, n, may_wait, from, X, columns);
    return each.template attach<1>(block, n, may_wait, from, X, columns);
  });
}

EXPOSIM_FOR_EACH_MACHINE
void apply_columns(Index n, const double* X, const double* w, double* x) {
  with_columns(n, [&](const auto each) EXPOSIM_INLINE_CALL { each.apply(n, X, w, x); });
}

}  // namespace

void IdentityPlus::resize(Index n) {
  n_ = n;
  const Index stride = padded(n_);
  for (std::vector<double>* const each : {&A_, &with_lasting_, &with_all_}) {
    each->resize(static_cast<std::size_t>(n_ * stride) + 2 * kFour);
  }
  columns_.resize(static_cast<std::size_t>(6 * stride));
  x_.resize(static_cast<std::size_t>(stride));
}

void IdentityPlus::load(const Eigen::MatrixXd& whole, const std::vector<Index>& rows) {
  const auto n = static_cast<Index>(rows.size());
  Index side_by_side = 0;
  while (side_by_side < n && rows[static_cast<std::size_t>(side_by_side)] == rows.front() + side_by_side)
    ++side_by_side;
  if (n > 0 && side_by_side == n) return load(n, whole.data() + rows.front() * (whole.rows() + 1), whole.rows());
  resize(n);
  const Index stride = padded(n_);
  for (Index j = 0; j < n_; ++j) {
    const double* const column = whole.data() + rows[static_cast<std::size_t>(j)] * whole.rows();
    double* const to = A_.data() + j * stride;
    for (Index i = 0; i < n_; ++i) to[i] = column[rows[static_cast<std::size_t>(i)]];
    for (Index i = n_; i < stride; ++i) to[i] = 0.0;
  }
  all_ = kept_ = {A_.data(), 1.0};
}

void IdentityPlus::load(Index n, const double* whole, Index stride) {
  resize(n);
  for (Index j = 0; j < n_; ++j) {
    double* const to = A_.data() + j * padded(n_);
    std::copy_n(whole + j * stride, n_, to);
    std::fill(to + n_, to + padded(n_), 0.0);
  }
  all_ = kept_ = {A_.data(), 1.0};
}

void IdentityPlus::attach(const std::vector<DiagonalBlock>& B, bool lasting_as_before) {
  if (!lasting_as_before) {
    kept_.from = A_.data();
    kept_.determinant = 1.0;
    attach_some(B, true, kept_, with_lasting_);
  }
  all_ = kept_;
  attach_some(B, false, all_, with_all_);
}

void IdentityPlus::attach_some(const std::vector<DiagonalBlock>& B, bool lasting, Attached& to,
                               std::vector<double>& result) {
  left_.clear();
  for (const DiagonalBlock& block : B) {
    if (block.lasting == lasting && !block.zero) left_.push_back(&block);
  }
  bool may_wait = true;
  while (!left_.empty()) {
    std::size_t waiting = 0;
    for (const DiagonalBlock* const block : left_) {
      const double determinant = attach_block(n_, *block, may_wait, to.from, result.data(), columns_.data());
      if (determinant == 0.0 && may_wait) {
        left_[waiting++] = block;
      } else {
        to.from = result.data();
        to.determinant *= determinant;
      }
    }
    may_wait = waiting < left_.size();  // until all that are left wait
    left_.resize(waiting);
  }
}

void IdentityPlus::apply(const double* w, double* x) {
  apply_columns(n_, all_.from, w, x_.data());
  std::copy(x_.data(), x_.data() + n_, x);
}

}  // namespace exposim
