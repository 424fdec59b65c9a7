#pragma once

#include <Eigen/Core>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

// Of the last update_terms (mass_matrix.hpp), and of the velocity given there or to update_bias. Joint 0 is the world,
// which does not move.

/// Adds sign times the transposed Jacobian of the point of a body that is now at p (world) to rows of `size` entries:
/// three, or six with the body's angular velocity behind.
/// @param dofs degrees of freedom that the rows stand for, ascending; those that move the body are among them.
void add_jacobian_transpose(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p, double sign,
                            const Eigen::Index* dofs, Eigen::Index size, double* rows);
/// J̇v of the point of a body that is now at p (world): its acceleration at v̇ = 0.
Eigen::Vector3d point_drift(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p);
/// The same of the body's rotation.
Eigen::Vector3d angular_drift(const RobotData& data, std::size_t joint);

}  // namespace exposim
