#include "exposim/robot/tree_factor.hpp"

#include <algorithm>
#include <cmath>

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

void TreeFactor::factor_packed() {
  for (std::size_t k = columns_.size(); k-- > 0;) {
    const auto [first, size] = columns_[k];
    const int* const above = above_.data() + first;
    double* const own = packed_.data() + first;
    const double inverse = inverse_D_[k] = 1.0 / own[0];
    for (int p = 1; p < size; ++p) {
      const double factor = own[p] * inverse;
      double* const ancestor = packed_.data() + columns_[static_cast<std::size_t>(above[p])].first;
      for (int r = 0; r < size - p; ++r) ancestor[r] -= factor * own[p + r];
    }
    for (int p = 1; p < size; ++p) own[p] *= inverse;
    inverse_root_D_[k] = std::sqrt(inverse);
  }
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

namespace {

/// to −= factor · from, for rows of a size that is known or not.
template <Index Size>
void subtract(double* to, double factor, const double* from, Index size) {
  const Index n = Size > 0 ? Size : size;
  for (Index i = 0; i < n; ++i) to[i] -= factor * from[i];
}

}  // namespace

void TreeFactor::solve_L(const Index* dofs, std::size_t count, Index size, double* rows) const {
  const auto take = size == 3 ? subtract<3> : size == 6 ? subtract<6> : subtract<0>;
  for (std::size_t a = 0; a < count; ++a) place_[static_cast<std::size_t>(dofs[a])] = a;
  for (std::size_t a = count; a-- > 0;) {
    const auto k = static_cast<std::size_t>(dofs[a]);
    const auto [first, behind] = columns_[k];
    const int* const above = above_.data() + first;
    const double* const own = packed_.data() + first;
    double* const row = rows + static_cast<Index>(a) * size;
    for (int p = 1; p < behind; ++p) {
      take(rows + static_cast<Index>(place_[static_cast<std::size_t>(above[p])]) * size, own[p], row, size);
    }
    for (Index i = 0; i < size; ++i) row[i] *= inverse_root_D_[k];
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
