#include "exposim/kernels/row_sums.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// So many fours at once.
template <Index Fours>
EXPOSIM_INLINE void sum(Index count, const double* factors, const double* const* rows, Index from, double* out) {
  Four sum[Fours] = {};  // NOLINT
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < Fours; ++i) sum[i] += factors[k] * reinterpret_cast<const Four*>(rows[k] + from)[i];
  }
  for (Index i = 0; i < Fours; ++i) reinterpret_cast<Four*>(out + from)[i] = sum[i];
}

template <Index Fours>
EXPOSIM_INLINE void multiply(Index inner, Index stride, const double* a, const double* x, const double* plus,
                             double* y) {
  Four sum[Fours];  // NOLINT
  for (Index i = 0; i < Fours; ++i) sum[i] = plus ? reinterpret_cast<const Four*>(plus)[i] : Four{};
  for (Index j = 0; j < inner; ++j, x += stride) {
    for (Index i = 0; i < Fours; ++i) sum[i] += a[j] * reinterpret_cast<const Four*>(x)[i];
  }
  for (Index i = 0; i < Fours; ++i) reinterpret_cast<Four*>(y)[i] = sum[i];
}

constexpr Index kAtOnce = 6;

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void sum_rows(Index length, Index count, const double* factors, const double* const* rows, double* out) {
  Index left = fours(length), from = 0;
  for (; left >= kAtOnce; left -= kAtOnce, from += kAtOnce * kFour) sum<kAtOnce>(count, factors, rows, from, out);
  for (; left >= 2; left -= 2, from += 2 * kFour) sum<2>(count, factors, rows, from, out);
  if (left == 1) sum<1>(count, factors, rows, from, out);
}

EXPOSIM_FOR_EACH_MACHINE
void multiply_rows(Index rows, Index inner, Index length, Index stride, const double* A, Index stride_A,
                   const double* x, const double* plus, double* y) {
  for (Index r = 0; r < rows; ++r, A += stride_A, y += stride) {
    const double* const with = plus ? plus + r * stride : nullptr;
    const auto start = [with](Index from) { return with ? with + from : nullptr; };
    Index left = fours(length), from = 0;
    for (; left >= kAtOnce; left -= kAtOnce, from += kAtOnce * kFour) {
      multiply<kAtOnce>(inner, stride, A, x + from, start(from), y + from);
    }
    for (; left >= 2; left -= 2, from += 2 * kFour) multiply<2>(inner, stride, A, x + from, start(from), y + from);
    if (left == 1) {
      multiply<1>(inner, stride, A, x + from, start(from), y + from);
      from += kFour;
    }
    for (; from < stride; ++from) y[from] = with ? with[from] : 0.0;
  }
}

}  // namespace exposim
