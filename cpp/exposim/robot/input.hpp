#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// A wrench given by the user: force and torque in world axes, acting at a point of a body.
struct ExternalWrench {
  std::size_t joint;
  Eigen::Vector3d position;  ///< in the joint's frame [m]
  Eigen::Vector3d force;     ///< [N]
  Eigen::Vector3d torque;    ///< [N·m]
};

/// What drives the robot during a step.
struct Input {
  Eigen::VectorXd tau;  ///< Sᵀτ, one entry per degree of freedom [N·m or N]; where there is a servo, feed-forward
  Eigen::VectorXd target, target_velocity;  ///< of servos, (nq) and (nv)
  std::vector<ExternalWrench> wrenches;
};

}  // namespace exposim
