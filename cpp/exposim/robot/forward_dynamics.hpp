#pragma once

#include <Eigen/Core>

#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

// Forward dynamics with forces on the bodies, in O(n). Uses the placements of update_kinematics at (q, v).

void clear_forces(RobotData& data);
/// A force at the point of a body that is now at p, both in the world frame; on the world it is of no effect.
void add_force(RobotData& data, std::size_t joint, const Eigen::Vector3d& p, const Eigen::Vector3d& force);
void add_torque(RobotData& data, std::size_t joint, const Eigen::Vector3d& torque);
/// A force along a degree of freedom.
void add_joint_force(RobotData& data, Eigen::Index dof, double force);
/// v̇ with the forces added so far, those along the degrees of freedom, and wrenches.
const Eigen::VectorXd& acceleration(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                    const Eigen::VectorXd& along_dofs, const std::vector<ExternalWrench>& wrenches);

}  // namespace exposim
