#include "exposim/robot/tree_factor.hpp"

#include <algorithm>

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

TreeFactor::TreeFactor(const std::vector<int>& parents)
    : inverse_D_(parents.size()), inverse_root_D_(parents.size()), y_(parents.size()), place_(parents.size()) {
  for (int k = 0; k < static_cast<int>(parents.size()); ++k) {
    const std::size_t first = above_.size();
    for (int i = k; i >= 0; i = parents[static_cast<std::size_t>(i)]) above_.push_back(i);
    columns_.push_back({first, static_cast<int>(above_.size() - first)});
  }
  packed_.resize(above_.size());
}

void TreeFactor::factor(const std::vector<double>& M) {
  std::copy(M.begin(), M.end(), packed_.begin());
  factor_packed();
}

void TreeFactor::factor(const std::vector<double>& M, const Eigen::VectorXd& added) {
  std::copy(M.begin(), M.end(), packed_.begin());
  for (std::size_t k = 0; k < columns_.size(); ++k) packed_[columns_[k].first] += added(static_cast<Index>(k));
  factor_packed();
}

namespace {

EXPOSIM_FOR_EACH_MACHINE
void factor_columns(const TreeColumn* columns, std::size_t count, const int* all_above, double* packed,
                    double* inverse_D, double* inverse_root_D) {
  for (std::size_t k = count; k-- > 0;) {
    const int size = columns[k].size;
    const int* const above = all_above + columns[k].first;
    double* const own = packed + columns[k].first;
    const double inverse = inverse_D[k] = 1.0 / own[0];
    for (int p = 1; p < size; ++p) {
      subtract_multiple(packed + columns[above[p]].first, own[p] * inverse, own + p, size - p);
    }
    for (int p = 1; p < size; ++p) own[p] *= inverse;
    inverse_root_D[k] = __builtin_sqrt(inverse);
  }
}

}  // namespace

void TreeFactor::factor_packed() {
  factor_columns(columns_.data(), columns_.size(), above_.data(), packed_.data(), inverse_D_.data(),
                 inverse_root_D_.data());
}

void TreeFactor::solve_L(double* x) const {
  for (std::size_t k = columns_.size(); k-- > 0;) {
    const auto [first, size] = columns_[k];
    const int* const above = above_.data() + first;
    const double* const own = packed_.data() + first;
    const double xk = x[k];
    for (int p = 1; p < size; ++p) x[above[p]] -= own[p] * xk;
    x[k] *= inverse_root_D_[k];
  }
}

void TreeFactor::solve_Lt(double* x) const {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const auto [first, size] = columns_[k];
    const int* const above = above_.data() + first;
    const double* const own = packed_.data() + first;
    double rest = x[k] * inverse_root_D_[k];
    for (int p = 1; p < size; ++p) rest -= own[p] * x[above[p]];
    x[k] = rest;
  }
}

void TreeFactor::solve_Lt(double* x, double* y) const {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const auto [first, size] = columns_[k];
    const int* const above = above_.data() + first;
    const double* const own = packed_.data() + first;
    double rest_x = x[k] * inverse_root_D_[k], rest_y = y[k] * inverse_root_D_[k];
    for (int p = 1; p < size; ++p) {
      rest_x -= own[p] * x[above[p]];
      rest_y -= own[p] * y[above[p]];
    }
    x[k] = rest_x;
    y[k] = rest_y;
  }
}

void TreeFactor::solve_L(const Index* dofs, std::size_t count, Index size, double* rows) const {
  if (size == 3) return solve_L<3>(dofs, count, size, rows);
  if (size == 6) return solve_L<6>(dofs, count, size, rows);
  solve_L<0>(dofs, count, size, rows);
}

template <Index Size>
void TreeFactor::solve_L(const Index* dofs, std::size_t count, Index size, double* rows) const {
  const Index n = Size > 0 ? Size : size;
  for (std::size_t a = 0; a < count; ++a) place_[static_cast<std::size_t>(dofs[a])] = a;
  for (std::size_t a = count; a-- > 0;) {
    const auto k = static_cast<std::size_t>(dofs[a]);
    const auto [first, behind] = columns_[k];
    const int* const above = above_.data() + first;
    const double* const own = packed_.data() + first;
    double* const row = rows + static_cast<Index>(a) * n;
    for (int p = 1; p < behind; ++p) {
      double* const to = rows + static_cast<Index>(place_[static_cast<std::size_t>(above[p])]) * n;
      for (Index i = 0; i < n; ++i) to[i] -= own[p] * row[i];
    }
    for (Index i = 0; i < n; ++i) row[i] *= inverse_root_D_[k];
  }
}

double TreeFactor::felt(Index dof) const {
  const auto [first, size] = columns_[static_cast<std::size_t>(dof)];
  double* const y = y_.data();  // U⁻¹e, at dof and its ancestors
  y[0] = 1.0;
  std::fill(y + 1, y + size, 0.0);
  double inverse = 0.0;
  for (int p = 0; p < size; ++p) {
    const auto k = static_cast<std::size_t>(above_[first + static_cast<std::size_t>(p)]);
    const double yp = y[p];
    inverse += yp * yp * inverse_D_[k];
    const double* const column = packed_.data() + columns_[k].first;
    for (int r = 1; r < size - p; ++r) y[p + r] -= column[r] * yp;
  }
  return 1.0 / inverse;
}

}  // namespace exposim
