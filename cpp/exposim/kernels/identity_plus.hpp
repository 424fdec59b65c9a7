#pragma once

#include <Eigen/LU>

namespace exposim {

/// Solves I + A for a small matrix A that changes often; no allocation while its size does not change.
class IdentityPlus {
 public:
  template <typename Left, typename Right>
  void factor_product(const Left& left, const Right& right) {
    matrix_.noalias() = left.lazyProduct(right);
    matrix_.diagonal().array() += 1.0;
    factors_.compute(matrix_);
  }
  void solve_in_place(Eigen::VectorXd& x) {
    solved_.noalias() = factors_.permutationP() * x;
    factors_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(solved_);
    factors_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(solved_);
    x.swap(solved_);
  }

 private:
  Eigen::MatrixXd matrix_;
  Eigen::PartialPivLU<Eigen::MatrixXd> factors_;
  Eigen::VectorXd solved_;
};

}  // namespace exposim
