#include "exposim/robot/tree_factor.hpp"

#include <algorithm>

#include "exposim/kernels/fours.hpp"
#include "exposim/robot/tree_rows.hpp"

namespace exposim {

using Eigen::Index;

namespace {

constexpr Index kMostRows = 6;  // that are solved for at once

/// The same four from its end on.
EXPOSIM_INLINE Four reversed(const Four& x) { return Four{x[3], x[2], x[1], x[0]}; }

/// Ones, then zeros: from 4 − n on there are n ones.
constexpr double kOnes[] = {1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0};

/// From 3 − k on the unit vector of the k-th of four.
constexpr double kUnit[] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};

/// Turns columns of M, each from the diagonal upwards, into ones from the root on.
EXPOSIM_FOR_EACH_MACHINE
void load_columns(const TreeColumn* columns, std::size_t count, const double* M, double* U) {
  for (std::size_t k = 0; k < count; ++k) {
    const Index size = columns[k].above + 1, whole = size / kFour;
    double* const to = U + columns[k].first;
    for (Index i = 0; i < whole; ++i) four(to, i) = reversed(four(M + size - kFour * (i + 1), 0));
    for (Index p = kFour * whole; p < size; ++p) to[p] = M[size - 1 - p];
    M += size;
  }
}

/// Takes a column out of those of its ancestors up to `end`, which are so many fours long.
template <Index Fours>
EXPOSIM_INLINE void eliminate(Index end, const double* own, double inverse, const int* begins, double* U) {
  for (Index p = kFour * (Fours - 1); p < end; ++p) {
    const double factor = own[p] * inverse;
    double* const to = U + begins[p];
    for (Index i = 0; i < Fours; ++i) four(to, i) -= factor * four(own, i);
  }
}

EXPOSIM_FOR_EACH_MACHINE
void factor_tree(const TreeColumn* columns, std::size_t count, const int* begins, double* U, double* inverse_root_D) {
  for (std::size_t k = count; k-- > 0;) {
    const Index above = columns[k].above, whole = above / kFour;
    const int* const to = begins + columns[k].first;
    double* const own = U + columns[k].first;
    const double inverse = 1.0 / own[above];
    // What is behind the end of a column is of no meaning until it is its turn.
    eliminate<1>(above < 4 ? above : 4, own, inverse, to, U);
    if (above > 4) eliminate<2>(above < 8 ? above : 8, own, inverse, to, U);
    if (above > 8) eliminate<3>(above < 12 ? above : 12, own, inverse, to, U);
    if (above > 12) eliminate<4>(above < 16 ? above : 16, own, inverse, to, U);
    for (Index p = 16; p < above; ++p) {
      const double factor = own[p] * inverse;
      for (Index i = 0; i <= p / kFour; ++i) four(U + to[p], i) -= factor * four(own, i);
    }
    for (Index i = 0; i < whole; ++i) four(own, i) *= inverse;
    four(own, whole) *= inverse * four(kOnes + kFour - above % kFour, 0);
    inverse_root_D[k] = __builtin_sqrt(inverse);
  }
}

/// @param sums scratch: what neighbours in a chain, each of which carries the next, take from those above.
EXPOSIM_FOR_EACH_MACHINE
void solve_lower(const TreeColumn* columns, std::size_t count, const int* path, const double* U,
                 const double* inverse_root_D, double* sums, double* x) {
  for (std::size_t k = count; k-- > 0;) {
    const Index last = columns[k].above;
    for (Index i = 0; i <= last / kFour; ++i) four(sums, i) = Four{0.0, 0.0, 0.0, 0.0};
    for (;; --k) {
      const Index above = columns[k].above;
      const double xk = x[k] - sums[above];
      x[k] = xk * inverse_root_D[k];
      const double* const own = U + columns[k].first;
      for (Index i = 0; i < fours(above); ++i) four(sums, i) += xk * four(own, i);
      if (above == 0) break;
      const int* const dofs = path + columns[k].first;
      if (dofs[above - 1] == static_cast<int>(k) - 1) continue;
      for (Index p = 0; p < above; ++p) x[dofs[p]] -= sums[p];
      break;
    }
  }
}

EXPOSIM_FOR_EACH_MACHINE
void solve_upper(const TreeColumn* columns, std::size_t count, const int* path, const double* U,
                 const double* inverse_root_D, double* x) {
  for (std::size_t k = 0; k < count; ++k) {
    const int* const dofs = path + columns[k].first;
    const double* const own = U + columns[k].first;
    double rest = x[k] * inverse_root_D[k];
    for (Index p = 0; p < columns[k].above; ++p) rest -= own[p] * x[dofs[p]];
    x[k] = rest;
  }
}

EXPOSIM_FOR_EACH_MACHINE
void solve_upper(const TreeColumn* columns, std::size_t count, const int* path, const double* U,
                 const double* inverse_root_D, double* x, double* y) {
  for (std::size_t k = 0; k < count; ++k) {
    const int* const dofs = path + columns[k].first;
    const double* const own = U + columns[k].first;
    double rest_x = x[k] * inverse_root_D[k], rest_y = y[k] * inverse_root_D[k];
    for (Index p = 0; p < columns[k].above; ++p) {
      rest_x -= own[p] * x[dofs[p]];
      rest_y -= own[p] * y[dofs[p]];
    }
    x[k] = rest_x;
    y[k] = rest_y;
  }
}

/// Rows of a degree of freedom and all above it. @param turned scratch: the same, entry by entry.
template <Index Size>
EXPOSIM_INLINE void solve_path(const TreeColumn* columns, Index last, const Index* dofs, const double* U,
                               const double* inverse_root_D, double* turned, double* rows) {
  const Index stride = padded(last + 1);
  for (Index a = 0; a <= last; ++a) {
    for (Index i = 0; i < Size; ++i) turned[i * stride + a] = rows[a * Size + i];
  }
  for (Index a = last; a >= 0; --a) {
    const double* const own = U + columns[dofs[a]].first;
    const double by = inverse_root_D[dofs[a]];
    double entries[Size];
    for (Index i = 0; i < Size; ++i) {
      entries[i] = turned[i * stride + a];
      rows[a * Size + i] = entries[i] * by;
    }
    for (Index b = 0; b < fours(a); ++b) {
      const Four above = four(own, b);
      for (Index i = 0; i < Size; ++i) four(turned + i * stride, b) -= entries[i] * above;
    }
  }
}

EXPOSIM_FOR_EACH_MACHINE
void solve_along_path(const TreeColumn* columns, Index last, const Index* dofs, Index size, const double* U,
                      const double* inverse_root_D, double* turned, double* rows) {
  if (size == 1) return solve_path<1>(columns, last, dofs, U, inverse_root_D, turned, rows);
  if (size == 3) return solve_path<3>(columns, last, dofs, U, inverse_root_D, turned, rows);
  solve_path<6>(columns, last, dofs, U, inverse_root_D, turned, rows);
}

/// Subtracts from a column what those of its ancestors up to `end` have a share in, which are so many fours long.
template <Index Fours>
EXPOSIM_INLINE void subtract_above(Index end, const double* by, const int* begins, const double* inverse_L,
                                   double* own) {
  Four rest[Fours];  // NOLINT
  for (Index i = 0; i < Fours; ++i) rest[i] = four(own, i);
  for (Index p = kFour * (Fours - 1); p < end; ++p) {
    const double* const from = inverse_L + begins[p];
    for (Index i = 0; i < Fours; ++i) rest[i] -= by[p] * four(from, i);
  }
  for (Index i = 0; i < Fours; ++i) four(own, i) = rest[i];
}

/// A column of L⁻¹ by those above: L⁻¹eₖ = Dₖ^−½ eₖ − Σ Uₚₖ L⁻¹eₚ.
EXPOSIM_FOR_EACH_MACHINE
void invert_column(const TreeColumn& column, const int* all_begins, const double* U, double inverse_root_D,
                   double* inverse_L) {
  const Index above = column.above;
  double* const own = inverse_L + column.first;
  const double* const by = U + column.first;
  const int* const begins = all_begins + column.first;
  for (Index i = 0; i < above / kFour; ++i) four(own, i) = Four{0.0, 0.0, 0.0, 0.0};
  four(own, above / kFour) = inverse_root_D * four(kUnit + kFour - 1 - above % kFour, 0);
  subtract_above<1>(above < 4 ? above : 4, by, begins, inverse_L, own);
  if (above > 4) subtract_above<2>(above < 8 ? above : 8, by, begins, inverse_L, own);
  if (above > 8) subtract_above<3>(above < 12 ? above : 12, by, begins, inverse_L, own);
  if (above > 12) subtract_above<4>(above < 16 ? above : 16, by, begins, inverse_L, own);
  for (Index p = 16; p < above; ++p) {
    for (Index i = 0; i <= p / kFour; ++i) four(own, i) -= by[p] * four(inverse_L + begins[p], i);
  }
}

EXPOSIM_FOR_EACH_MACHINE
double squared_norm(Index n, const double* x) {
  Four sum = {0.0, 0.0, 0.0, 0.0};
  for (Index i = 0; i < fours(n); ++i) sum += four(x, i) * four(x, i);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

}  // namespace

TreeFactor::TreeFactor(const std::vector<int>& parents)
    : inverse_root_D_(parents.size()), inverted_(parents.size()), place_(parents.size()) {
  std::size_t packed = 0;
  Index longest = 0;
  for (int k = 0; k < static_cast<int>(parents.size()); ++k) {
    const std::size_t first = path_.size();
    for (int i = k; i >= 0; i = parents[static_cast<std::size_t>(i)]) path_.push_back(i);
    std::reverse(path_.begin() + static_cast<Index>(first), path_.end());
    const auto size = static_cast<Index>(path_.size() - first);
    columns_.push_back({first, static_cast<int>(size) - 1});
    packed_.push_back(packed);
    packed += static_cast<std::size_t>(size);
    longest = std::max(longest, padded(size));
    path_.resize(first + static_cast<std::size_t>(padded(size)), k);
  }
  for (const int dof : path_) begins_.push_back(static_cast<int>(columns_[static_cast<std::size_t>(dof)].first));
  below_.resize(parents.size());
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(columns_[k].above); ++p) {
      const std::size_t where = columns_[k].first + p;
      below_[static_cast<std::size_t>(path_[where])].push_back({static_cast<int>(k), where});
    }
  }
  factors_.resize(parents.size());
  U_.resize(path_.size());
  inverse_L_.resize(path_.size());
  y_.resize(static_cast<std::size_t>(kMostRows * longest));
}

void TreeFactor::load(const std::vector<double>& M) {
  load_columns(columns_.data(), columns_.size(), M.data(), U_.data());
}

void TreeFactor::factor(const std::vector<double>& M) {
  load(M);
  factor_columns();
}

void TreeFactor::factor(const std::vector<double>& M, const Eigen::VectorXd& added) {
  load(M);
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    U_[columns_[k].first + static_cast<std::size_t>(columns_[k].above)] += added(static_cast<Index>(k));
  }
  factor_columns();
}

void TreeFactor::factor_columns() {
  factor_tree(columns_.data(), columns_.size(), begins_.data(), U_.data(), inverse_root_D_.data());
  std::fill(inverted_.begin(), inverted_.end(), 0);
}

void TreeFactor::solve_L(double* x) const {
  solve_lower(columns_.data(), columns_.size(), path_.data(), U_.data(), inverse_root_D_.data(), y_.data(), x);
}

void TreeFactor::solve_Lt(double* x) const {
  solve_upper(columns_.data(), columns_.size(), path_.data(), U_.data(), inverse_root_D_.data(), x);
}

void TreeFactor::solve_Lt(double* x, double* y) const {
  solve_upper(columns_.data(), columns_.size(), path_.data(), U_.data(), inverse_root_D_.data(), x, y);
}

void TreeFactor::solve_L(const Index* dofs, std::size_t count, Index size, double* rows) const {
  if (count == 0) return;
  const auto last = static_cast<Index>(count) - 1;
  if (columns_[static_cast<std::size_t>(dofs[last])].above != last) return solve_L_apart(dofs, count, size, rows);
  solve_along_path(columns_.data(), last, dofs, size, U_.data(), inverse_root_D_.data(), y_.data(), rows);
}

void TreeFactor::solve_L_apart(const Index* dofs, std::size_t count, Index size, double* rows) const {
  for (std::size_t a = 0; a < count; ++a) place_[static_cast<std::size_t>(dofs[a])] = a;
  for (std::size_t a = count; a-- > 0;) {
    const auto k = static_cast<std::size_t>(dofs[a]);
    const auto [first, above] = columns_[k];
    const int* const path = path_.data() + first;
    const double* const own = U_.data() + first;
    double* const row = rows + static_cast<Index>(a) * size;
    for (int p = 0; p < above; ++p) {
      double* const to = rows + static_cast<Index>(place_[static_cast<std::size_t>(path[p])]) * size;
      for (Index i = 0; i < size; ++i) to[i] -= own[p] * row[i];
    }
    for (Index i = 0; i < size; ++i) row[i] *= inverse_root_D_[k];
  }
}

void TreeFactor::solve_rows(Index length, double* rows, double factor) const {
  for (std::size_t k = 0; k < columns_.size(); ++k) factors_[k] = factor * inverse_root_D_[k] * inverse_root_D_[k];
  solve_tree_rows(layout(), {U_.data(), U_.data(), factors_.data()}, length, rows);
}

void TreeFactor::add_product(const double* A, Index length, const double* rows, double* to) const {
  multiply_tree_rows(layout(), A, length, rows, to);
}

const double* TreeFactor::inverse_column(Index dof) const {
  const TreeColumn& column = columns_[static_cast<std::size_t>(dof)];
  const int* const path = path_.data() + column.first;
  int known = column.above;  // what is above a known one is known
  while (known >= 0 && inverted_[static_cast<std::size_t>(path[known])] == 0) --known;
  for (int p = known + 1; p <= column.above; ++p) {
    const auto k = static_cast<std::size_t>(path[p]);
    invert_column(columns_[k], begins_.data(), U_.data(), inverse_root_D_[k], inverse_L_.data());
    inverted_[k] = 1;
  }
  return inverse_L_.data() + column.first;
}

double TreeFactor::felt(Index dof) const {
  return 1.0 / squared_norm(columns_[static_cast<std::size_t>(dof)].above + 1, inverse_column(dof));
}

}  // namespace exposim
