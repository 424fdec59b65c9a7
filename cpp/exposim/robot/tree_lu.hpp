#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/robot_data.hpp"
#include "exposim/robot/tree_rows.hpp"

namespace exposim {

/// M + A = U D L, with an A of the sparsity of a tree that need not be symmetric: see TreeFactor.
class TreeLU {
 public:
  /// @param M as `like` has factored it.
  void factor(const TreeFactor& like, const std::vector<double>& M, double by, const RowMatrixXd& A);
  /// (M + by A)⁻¹ times rows, in place; times a factor: see TreeFactor.
  void solve_rows(Eigen::Index length, double* rows, double factor = 1.0) const;

 private:
  const TreeFactor* like_ = nullptr;
  std::vector<double> U_, L_, inverse_D_;  // as columns of TreeFactor; of L its rows
  mutable std::vector<double> factors_;
};

}  // namespace exposim
