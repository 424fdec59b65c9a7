#include "exposim/integrators/mean_of_ends.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;

void MeanOfEnds::take(const RobotData& data, const TreeFactor& factor, double dt, const RowMatrixXd& by_v,
                      const RowMatrixXd& by_velocity, RowMatrixXd& by_acceleration) {
  const double half = 0.5 * dt;
  matrix_.factor(factor, data.tree().M, half, by_v);
  const Index m = by_acceleration.rows();
  clear(pushed_, by_v.rows(), padded(m));
  pushed_.leftCols(m) = by_acceleration.transpose();
  matrix_.solve_rows(pushed_.cols(), pushed_.data());
  by_acceleration += half * by_velocity;
}

MatrixXd MeanOfEnds::beside(const RowMatrixXd& by_acceleration, const MatrixXd& Upsilon) const {
  const Index m = Upsilon.rows();
  const RowMatrixXd pushed = product(by_acceleration.topRows(m), pushed_);
  return pushed.leftCols(m) - Upsilon;
}

}  // namespace exposim
