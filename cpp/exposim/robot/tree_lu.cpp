#include "exposim/robot/tree_lu.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;

namespace {

EXPOSIM_FOR_EACH_MACHINE
void factor_tree(const TreeLayout& tree, double* U, double* L, double* inverse_D) {
  const TreeColumn* const columns = tree.columns;
  for (Index k = tree.count; k-- > 0;) {
    const Index above = columns[k].above;
    const int* const to = tree.begins + columns[k].first;
    double *const own_U = U + columns[k].first, *const own_L = L + columns[k].first;
    const double inverse = 1.0 / own_U[above];
    // What is behind the end of a column is of no meaning.
    for (Index p = 0; p < above; ++p) {
      const double by_U = own_L[p] * inverse, by_L = own_U[p] * inverse;
      for (Index i = 0; i <= p / kFour; ++i) {
        four(U + to[p], i) -= by_U * four(own_U, i);
        four(L + to[p], i) -= by_L * four(own_L, i);
      }
    }
    for (Index i = 0; i < fours(above); ++i) {
      four(own_U, i) *= inverse;
      four(own_L, i) *= inverse;
    }
    inverse_D[k] = inverse;
  }
}

}  // namespace

void TreeLU::factor(const TreeFactor& like, const std::vector<double>& M, double by, const RowMatrixXd& A) {
  like_ = &like;
  const TreeLayout tree = like.layout();
  std::size_t size = 0;
  for (Index k = 0; k < tree.count; ++k) size += static_cast<std::size_t>(padded(tree.columns[k].above + 1));
  U_.resize(size);
  L_.resize(size);
  inverse_D_.resize(static_cast<std::size_t>(tree.count));
  for (Index k = 0; k < tree.count; ++k) {
    const auto [first, above] = tree.columns[k];
    const double* entry = M.data() + like.first(k) + above;
    for (std::size_t p = first; p <= first + static_cast<std::size_t>(above); ++p, --entry) {
      U_[p] = *entry + by * A(tree.path[p], k);
      L_[p] = *entry + by * A(k, tree.path[p]);
    }
  }
  factor_tree(tree, U_.data(), L_.data(), inverse_D_.data());
  factors_.resize(inverse_D_.size());
}

void TreeLU::solve_rows(Index length, double* rows, double factor) const {
  for (std::size_t k = 0; k < factors_.size(); ++k) factors_[k] = factor * inverse_D_[k];
  solve_tree_rows(like_->layout(), {U_.data(), L_.data(), factors_.data()}, length, rows);
}

}  // namespace exposim
