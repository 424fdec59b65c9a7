#pragma once

#include "exposim/expo/tangent_products.hpp"
#include "exposim/robot/tree_lu.hpp"

namespace exposim {

/// Derivatives of averages whose velocity is the mean of start and end. With forces held that is v + dt/2 a,
///
///   (M + dt/2 ∂h/∂v) da = −∂(M a + h − Jᵀλ),    dp̈ = (J + dt/2 ∂p̈/∂v) da + …
class MeanOfEnds {
 public:
  /// @param by_v ∂h/∂v where terms are taken. @param by_velocity ∂p̈/∂v of strands.
  /// @param by_acceleration J, to which dt/2 ∂p̈/∂v comes.
  void take(const RobotData& data, const TreeFactor& factor, double dt, const RowMatrixXd& by_v,
            const RowMatrixXd& by_velocity, RowMatrixXd& by_acceleration);
  /// Of forces along degrees of freedom, a row to each: −da.
  void accelerate(Tangent& rows) const { matrix_.solve_rows(rows.cols(), rows.data(), -1.0); }
  /// What forces of leading strands accelerate the robot by.
  RowMatrixXd response(Eigen::Index strands) const { return pushed_.leftCols(strands); }
  /// What these do to p̈ by that velocity, beside Υ λ.
  Eigen::MatrixXd beside(const RowMatrixXd& by_acceleration, const Eigen::MatrixXd& Upsilon) const;

 private:
  TreeLU matrix_;
  RowMatrixXd pushed_;
};

}  // namespace exposim
