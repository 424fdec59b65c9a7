#include "exposim/robot/tree_rows.hpp"

#include "exposim/kernels/row_parts.hpp"

namespace exposim {

using Eigen::Index;

namespace {

template <Index Fours>
EXPOSIM_INLINE void add_row(double factor, const double* row, Four* sum) {
  for (Index i = 0; i < Fours; ++i) sum[i] += factor * four(row, i);
}

template <Index Fours>
EXPOSIM_INLINE void solve_part(const TreeLayout& tree, const TreeFactors& factors, Index length, double* x) {
  Four sum[Fours];  // NOLINT
  for (Index k = tree.count; k-- > 0;) {
    const TreeEntry* each = tree.below[k].data();
    const TreeEntry* const end = each + tree.below[k].size();
    if (each == end) continue;
    double* const own = x + k * length;
    for (Index i = 0; i < Fours; ++i) sum[i] = four(own, i);
    for (; each != end; ++each) add_row<Fours>(-factors.U[each->where], x + each->dof * length, sum);
    for (Index i = 0; i < Fours; ++i) four(own, i) = sum[i];
  }
  for (Index k = 0; k < tree.count; ++k) {
    const auto [first, above] = tree.columns[k];
    double* const own = x + k * length;
    const double by = factors.inverse_D[k];
    for (Index i = 0; i < Fours; ++i) sum[i] = by * four(own, i);
    const double* const L = factors.L + first;
    const int* const path = tree.path + first;
    for (Index p = 0; p < above; ++p) add_row<Fours>(-L[p], x + path[p] * length, sum);
    for (Index i = 0; i < Fours; ++i) four(own, i) = sum[i];
  }
}

template <Index Fours>
EXPOSIM_INLINE void multiply_part(const TreeLayout& tree, const double* A, Index length, const double* x, double* y) {
  for (Index k = 0; k < tree.count; ++k, A += tree.count) {
    const auto [first, above] = tree.columns[k];
    double* const out = y + k * length;
    Four sum[Fours];  // NOLINT
    for (Index i = 0; i < Fours; ++i) sum[i] = four(out, i);
    const int* const path = tree.path + first;
    for (Index p = 0; p <= above; ++p) add_row<Fours>(A[path[p]], x + path[p] * length, sum);
    const TreeEntry* each = tree.below[k].data();
    for (const TreeEntry* const end = each + tree.below[k].size(); each != end; ++each) {
      add_row<Fours>(A[each->dof], x + each->dof * length, sum);
    }
    for (Index i = 0; i < Fours; ++i) four(out, i) = sum[i];
  }
}

}  // namespace

EXPOSIM_FOR_EACH_MACHINE
void solve_tree_rows(const TreeLayout& tree, const TreeFactors& factors, Index length, double* rows) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    solve_part<decltype(at_once)::value>(tree, factors, length, rows + from);
  });
}

EXPOSIM_FOR_EACH_MACHINE
void multiply_tree_rows(const TreeLayout& tree, const double* A, Index length, const double* rows, double* to) {
  for_each_part(length, [&](const auto at_once, Index from) EXPOSIM_INLINE_CALL {
    multiply_part<decltype(at_once)::value>(tree, A, length, rows + from, to + from);
  });
}

}  // namespace exposim
