#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/robot/robot.hpp"

namespace exposim {

/// The bare Pinocchio calls that a step cannot do without, for benchmarks: what our code adds is above this floor.
class StepFloor {
 public:
  explicit StepFloor(const Robot& robot);
  ~StepFloor();

  /// forwardKinematics(q, v), frame updates and Jacobians of the given contact points, aba, integrate. @return seconds
  double time_explicit_euler(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                             const std::vector<std::size_t>& points);
  /// crba, nonLinearEffects, Jacobians of the given contact points, Cholesky, solve for Jᵀ, integrate. @return seconds
  double time_expo(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const std::vector<std::size_t>& points);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace exposim
