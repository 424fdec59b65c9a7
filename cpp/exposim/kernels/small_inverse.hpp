#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <utility>

#include "exposim/kernels/fours.hpp"

// Inverses of matrices of at most 6 × 6.

namespace exposim {

/// Without exchanges of rows, inverses of blocks up to here are no harm.
constexpr double kLargeInverse = 1e3;

EXPOSIM_INLINE double magnitude(double x) { return __builtin_fabs(x); }

/// A matrix of at most 6 × 6, column by column, these filled up to whole fours.
template <Eigen::Index Size>
struct Small {
  static constexpr Eigen::Index kFours = fours(Size), kStride = kFour * kFours;
  double values[static_cast<std::size_t>(Size * kStride)];  // NOLINT: std::array hides it from the vectoriser

  EXPOSIM_INLINE double* column(Eigen::Index j) { return values + j * kStride; }
  EXPOSIM_INLINE double& operator()(Eigen::Index i, Eigen::Index j) { return values[j * kStride + i]; }
};

/// Inverts a small matrix in place, with rows exchanged where they must be. @return the determinant.
template <Eigen::Index Size>
double invert_with_exchanges(Small<Size>& T) {
  std::array<Eigen::Index, static_cast<std::size_t>(Size)> exchanged;
  double determinant = 1.0;
  for (Eigen::Index k = 0; k < Size; ++k) {
    Eigen::Index pivot = k;
    for (Eigen::Index i = k + 1; i < Size; ++i) {
      if (std::abs(T(i, k)) > std::abs(T(pivot, k))) pivot = i;
    }
    exchanged[static_cast<std::size_t>(k)] = pivot;
    if (pivot != k) {
      determinant = -determinant;
      for (Eigen::Index j = 0; j < Size; ++j) std::swap(T(k, j), T(pivot, j));
    }
    determinant *= T(k, k);
    const double inverse = 1.0 / T(k, k);
    T(k, k) = 1.0;
    for (Eigen::Index j = 0; j < Size; ++j) T(k, j) *= inverse;
    for (Eigen::Index i = 0; i < Size; ++i) {
      if (i == k) continue;
      const double factor = T(i, k);
      T(i, k) = 0.0;
      for (Eigen::Index j = 0; j < Size; ++j) T(i, j) -= factor * T(k, j);
    }
  }
  for (Eigen::Index k = Size; k-- > 0;) {
    const Eigen::Index pivot = exchanged[static_cast<std::size_t>(k)];
    if (pivot == k) continue;
    for (Eigen::Index i = 0; i < Size; ++i) std::swap(T(i, k), T(i, pivot));
  }
  return determinant;
}

/// Unit vectors: the k-th begins at 8 − k.
inline constexpr double kUnits[16] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};

/// Of what was inverted but for a factor.
struct Divided {
  double determinant, factor;
};

/// The same but for a factor, at once where that is no harm.
template <Eigen::Index Size>
Divided invert_undivided(Small<Size>& T);

template <>
EXPOSIM_INLINE Divided invert_undivided<1>(Small<1>& T) {
  const double determinant = T(0, 0);
  T(0, 0) = 1.0;
  return {determinant, 1.0 / determinant};
}

/// Three columns of three; what the fourth number of each is does not count.
struct Three {
  Four columns[3];

  /// From where columns begin so many numbers apart.
  static EXPOSIM_INLINE Three at(const double* first, Eigen::Index stride) {
    return {{four(first, 0), four(first + stride, 0), four(first + 2 * stride, 0)}};
  }
  EXPOSIM_INLINE void write(double* first, Eigen::Index stride) const {
    for (int j = 0; j < 3; ++j) four(first + j * stride, 0) = columns[j];
  }
};

EXPOSIM_INLINE Three operator*(const Three& P, const Three& Q) {
  Three product;
  for (int j = 0; j < 3; ++j) {
    const Four q = Q.columns[j];
    product.columns[j] = q[0] * P.columns[0] + q[1] * P.columns[1] + q[2] * P.columns[2];
  }
  return product;
}

/// Cofactors, none of which waits for another.
EXPOSIM_INLINE Divided invert_undivided(Three& T) {
  const Four x = T.columns[0], y = T.columns[1], z = T.columns[2];
  const double a = x[0], b = x[1], c = x[2], d = y[0], e = y[1], f = y[2], g = z[0], h = z[1], i = z[2];
  const double A = e * i - f * h, B = c * h - b * i, C = b * f - c * e;
  const double determinant = a * A + d * B + g * C;
  T.columns[0] = Four{A, B, C, 0.0};
  T.columns[1] = Four{f * g - d * i, a * i - c * g, c * d - a * f, 0.0};
  T.columns[2] = Four{d * h - e * g, b * g - a * h, a * e - b * d, 0.0};
  return {determinant, 1.0 / determinant};
}

/// @return the determinant.
EXPOSIM_INLINE double invert(Three& T) {
  const Divided inverse = invert_undivided(T);
  for (Four& column : T.columns) column *= inverse.factor;
  return inverse.determinant;
}

template <>
EXPOSIM_INLINE Divided invert_undivided<3>(Small<3>& T) {
  Three all = Three::at(T.column(0), Small<3>::kStride);
  const Divided inverse = invert_undivided(all);
  all.write(T.column(0), Small<3>::kStride);
  return inverse;
}

/// By blocks of three, of which two inverses wait for each other instead of six numbers:
///
///   [A B; C D]⁻¹ = [A⁻¹ + F S⁻¹G, −F S⁻¹; −S⁻¹G, S⁻¹],    F = A⁻¹B,  G = C A⁻¹,  S = D − C F
template <>
EXPOSIM_INLINE Divided invert_undivided<6>(Small<6>& T) {
  constexpr Eigen::Index kStride = Small<6>::kStride;
  Three A = Three::at(T.column(0), kStride);
  const Three C = Three::at(T.column(0) + 3, kStride), B = Three::at(T.column(3), kStride);
  Three S = Three::at(T.column(3) + 3, kStride);
  const double of_A = invert(A);
  Four squares = {0.0, 0.0, 0.0, 0.0};
  for (const Four& column : A.columns) squares += column * column;
  if (!(squares[0] + squares[1] + squares[2] < kLargeInverse * kLargeInverse)) {
    return {invert_with_exchanges<6>(T), 1.0};
  }
  const Three F = A * B, G = C * A, CF = C * F;
  for (int j = 0; j < 3; ++j) S.columns[j] -= CF.columns[j];
  const double of_S = invert(S);
  Three H = S * G, R = F * S;
  const Three FH = F * H;
  for (int j = 0; j < 3; ++j) {
    A.columns[j] += FH.columns[j];
    H.columns[j] = -H.columns[j];
    R.columns[j] = -R.columns[j];
  }
  A.write(T.column(0), kStride);  // upper ones first: they end a number too late
  R.write(T.column(3), kStride);
  H.write(T.column(0) + 3, kStride);
  S.write(T.column(3) + 3, kStride);
  return {of_A * of_S, 1.0};
}

}  // namespace exposim
