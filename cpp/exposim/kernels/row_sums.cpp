#include "exposim/kernels/row_sums.hpp"

#include "exposim/kernels/row_parts.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// Those fours of a row that begin at `from`. The compiler is not to see how: it would keep every one of their places
/// in a register of its own.
EXPOSIM_INLINE const Four* part_of(const double* row, Index from) {
  row += from;
  asm("" : "+r"(row));
  return reinterpret_cast<const Four*>(row);
}

/// So many fours at once, of one row or more.
template <Index Fours>
EXPOSIM_INLINE void sum(Index count, const double* factors, const double* const* rows, Index from, double* out) {
  Four sum[Fours];  // NOLINT
  const Four* const first = part_of(rows[0], from);
  for (Index i = 0; i < Fours; ++i) sum[i] = factors[0] * first[i];
  for (Index k = 1; k < count; ++k) {
    const Four* const row = part_of(rows[k], from);
    for (Index i = 0; i < Fours; ++i) sum[i] += factors[k] * row[i];
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

template <Index Fours>
EXPOSIM_INLINE void multiply_at(Index inner, Index from, const double* a, const double* const* x, const double* plus,
                                double* y) {
  Four sum[Fours];  // NOLINT
  for (Index i = 0; i < Fours; ++i) sum[i] = plus ? reinterpret_cast<const Four*>(plus + from)[i] : Four{};
  for (Index j = 0; j < inner; ++j) {
    const Four* const row = part_of(x[j], from);
    for (Index i = 0; i < Fours; ++i) sum[i] += a[j] * row[i];
  }
  for (Index i = 0; i < Fours; ++i) reinterpret_cast<Four*>(y + from)[i] = sum[i];
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void clear_numbers(Index count, double* x) {
  constexpr Index kAtOnce = 8 * kFour;
  Index done = 0;
  for (; done + kAtOnce <= count; done += kAtOnce) {
    for (Index i = 0; i < kAtOnce / kFour; ++i) four(x + done, i) = Four{};
  }
  for (; done + kFour <= count; done += kFour) four(x + done, 0) = Four{};
  for (; done < count; ++done) x[done] = 0.0;
}

EXPOSIM_FOR_EACH_MACHINE
void sum_rows(Index length, Index count, const double* factors, const double* const* rows, double* out) {
  if (count == 0) return clear_numbers(length, out);
  for_each_part(length, [&](const auto at_once, Index from)
                            EXPOSIM_INLINE_CALL { sum<decltype(at_once)::value>(count, factors, rows, from, out); });
}

EXPOSIM_FOR_EACH_MACHINE
void multiply_rows(Index rows, Index inner, Index length, Index stride, const double* A, Index stride_A,
                   const double* x, const double* plus, double* y) {
  const Index done = padded(length);
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    for (Index r = 0; r < rows; ++r) {
      const Index at = r * stride + from;
      multiply<decltype(at_once)::value>(inner, stride, A + r * stride_A, x + from, plus ? plus + at : nullptr, y + at);
    }
  });
  for (Index r = 0; r < rows; ++r) {
    for (Index at = r * stride + done; at < (r + 1) * stride; at += kFour) {
      *reinterpret_cast<Four*>(y + at) = plus ? *reinterpret_cast<const Four*>(plus + at) : Four{};
    }
  }
}

EXPOSIM_FOR_EACH_MACHINE
void multiply_rows_at(Index rows, Index inner, Index length, const double* A, Index stride_A, const double* const* x,
                      const double* const* plus, double* const* y) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    for (Index r = 0; r < rows; ++r) {
      multiply_at<decltype(at_once)::value>(inner, from, A + r * stride_A, x, plus ? plus[r] : nullptr, y[r]);
    }
  });
}

EXPOSIM_FOR_EACH_MACHINE
void add_rows_twice(Index rows, Index length, Index stride_x, const double* x, Index stride, double* y, double factor,
                    double* z) {
  const Index whole = length / kFour;
  for (Index r = 0; r < rows; ++r, x += stride_x, y += stride, z += stride) {
    for (Index i = 0; i < whole; ++i) {
      const Four each = four(x, i);
      four(y, i) += each;
      four(z, i) += factor * each;
    }
    for (Index i = whole * kFour; i < length; ++i) {
      y[i] += x[i];
      z[i] += factor * x[i];
    }
  }
}

EXPOSIM_FOR_EACH_MACHINE
void add_product6(Index rows, Index stride_x, const double* x, Index stride_D, const double* D, Index stride_y,
                  double* y) {
  using Two = double __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double)), may_alias));
  Four head[6];  // NOLINT
  Two tail[6];   // NOLINT
  for (Index k = 0; k < 6; ++k) {
    head[k] = four(D + k * stride_D, 0);
    tail[k] = *reinterpret_cast<const Two*>(D + k * stride_D + kFour);
  }
  for (Index r = 0; r < rows; ++r, x += stride_x, y += stride_y) {
    Four& first = four(y, 0);
    Two& last = *reinterpret_cast<Two*>(y + kFour);
    Four sum = first;
    Two rest = last;
    for (Index k = 0; k < 6; ++k) {
      sum += x[k] * head[k];
      rest += x[k] * tail[k];
    }
    first = sum;
    last = rest;
  }
}

EXPOSIM_FOR_EACH_MACHINE
void sum_products(Index rows, Index length, const double* x, const double* y, double* out) {
  for (Index i = 0; i < fours(length); ++i) {
    Four sum = {0.0, 0.0, 0.0, 0.0};
    for (Index k = 0; k < rows; ++k) sum += four(x + k * length, i) * four(y + k * length, i);
    four(out, i) = sum;
  }
}

}  // namespace exposim
