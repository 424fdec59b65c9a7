#include "exposim/kernels/columns.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

/// So many fours of rows at once.
template <Index Fours>
EXPOSIM_INLINE void multiply(Index columns, Index stride, const double* X, const double* w, double* x) {
  Four sum[Fours] = {};  // NOLINT
  for (Index j = 0; j < columns; ++j, X += stride) {
    for (Index i = 0; i < Fours; ++i) sum[i] += w[j] * reinterpret_cast<const Four*>(X)[i];
  }
  for (Index i = 0; i < Fours; ++i) reinterpret_cast<Four*>(x)[i] = sum[i];
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void multiply_columns(Index rows, Index columns, Index stride, const double* X, const double* w, double* x) {
  Index left = fours(rows);
  for (; left >= 3; left -= 3, X += 3 * kFour, x += 3 * kFour) multiply<3>(columns, stride, X, w, x);
  if (left == 2) multiply<2>(columns, stride, X, w, x);
  if (left == 1) multiply<1>(columns, stride, X, w, x);
}

EXPOSIM_FOR_EACH_MACHINE
void add_square(Index n, Index stride, double factor, const double* c, double* X) {
  for (Index j = 0; j < n; ++j) subtract_multiple(X + j * stride, -factor * c[j], c, n);
}

EXPOSIM_FOR_EACH_MACHINE
void add_column(Index n, double factor, const double* c, double* x) { subtract_multiple(x, -factor, c, n); }

}  // namespace exposim
