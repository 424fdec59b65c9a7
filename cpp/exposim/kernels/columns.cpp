#include "exposim/kernels/columns.hpp"

#include <type_traits>

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

template <Index count>
using Count = std::integral_constant<Index, count>;

/// Calls f with numbers of fours that the compiler knows, and where they begin, until all have been.
template <typename Function>
EXPOSIM_INLINE void for_fours(Index count, Function&& f) {
  Index done = 0;
  for (; count - done >= 6; done += 6) f(Count<6>{}, kFour * done);
  for (; count - done >= 3; done += 3) f(Count<3>{}, kFour * done);
  for (; done < count; ++done) f(Count<1>{}, kFour * done);
}

/// sum += X w
template <Index Fours>
EXPOSIM_INLINE void add_product(Index columns, Index stride, const double* X, const double* w, Four* sum) {
  for (Index j = 0; j < columns; ++j, X += stride) {
    for (Index i = 0; i < Fours; ++i) sum[i] += w[j] * four(X, i);
  }
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void multiply_columns(Index rows, Index columns, Index stride, const double* X, const double* w, double* x) {
  for_fours(fours(rows), [&](const auto some, Index first) EXPOSIM_INLINE_CALL {
    constexpr Index kCount = decltype(some)::value;
    Four sum[kCount] = {};  // NOLINT
    add_product<kCount>(columns, stride, X + first, w, sum);
    for (Index i = 0; i < kCount; ++i) four(x + first, i) = sum[i];
  });
}

EXPOSIM_FOR_EACH_MACHINE
void add_columns(Index rows, Index columns, Index stride, const double* X, const double* w, double* x) {
  for_fours(fours(rows), [&](const auto some, Index first) EXPOSIM_INLINE_CALL {
    constexpr Index kCount = decltype(some)::value;
    Four sum[kCount];  // NOLINT
    for (Index i = 0; i < kCount; ++i) sum[i] = four(x + first, i);
    add_product<kCount>(columns, stride, X + first, w, sum);
    for (Index i = 0; i < kCount; ++i) four(x + first, i) = sum[i];
  });
}

EXPOSIM_FOR_EACH_MACHINE
void add_squares(Index rows, Index columns, Index stride, const double* C, const double* w, double* X) {
  for (Index j = 0; j < rows; ++j, X += stride) {
    for_fours(fours(rows), [&](const auto some, Index first) EXPOSIM_INLINE_CALL {
      constexpr Index kCount = decltype(some)::value;
      Four sum[kCount];  // NOLINT
      for (Index i = 0; i < kCount; ++i) sum[i] = four(X + first, i);
      const double* c = C;
      for (Index k = 0; k < columns; ++k, c += stride) {
        const double factor = w[k] * c[j];
        for (Index i = 0; i < kCount; ++i) sum[i] += factor * four(c + first, i);
      }
      for (Index i = 0; i < kCount; ++i) four(X + first, i) = sum[i];
    });
  }
}

EXPOSIM_FOR_EACH_MACHINE
void combine_rows(Index rows, Index columns, Index count, const Index* which, const double* A, Index R_stride,
                  const double* R, Index stride, double* X) {
  for (Index j = 0; j < columns; ++j, X += stride) {
    for_fours(fours(rows), [&](const auto some, Index first) EXPOSIM_INLINE_CALL {
      constexpr Index kCount = decltype(some)::value;
      Four sum[kCount] = {};  // NOLINT
      for (Index a = 0; a < count; ++a) {
        const double* const row = R + which[a] * R_stride + first;
        for (Index i = 0; i < kCount; ++i) sum[i] += A[a * columns + j] * four(row, i);
      }
      for (Index i = 0; i < kCount; ++i) four(X + first, i) = sum[i];
    });
  }
}

}  // namespace exposim
