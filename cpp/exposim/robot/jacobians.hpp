#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

// Of the last update_terms (mass_matrix.hpp), and of the velocity given there or to update_bias. Joint 0 is the world,
// which does not move.

/// Adds sign times the transposed Jacobian of the point of a body that is now at p (world) to nv × 3.
void add_point_jacobian_transpose(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p, double sign,
                                  Eigen::Ref<RowMatrixXd> Jt);
/// The same with the body's angular velocity behind, to nv × 6.
void add_body_jacobian_transpose(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p, double sign,
                                 Eigen::Ref<RowMatrixXd> Jt);
/// J̇v of the point of a body that is now at p (world): its acceleration at v̇ = 0.
Eigen::Vector3d point_drift(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p);
/// The same of the body's rotation.
Eigen::Vector3d angular_drift(const RobotData& data, std::size_t joint);
/// Adds the degrees of freedom that move a body.
void add_supporting_dofs(const RobotData& data, std::size_t joint, std::vector<Eigen::Index>& dofs);

}  // namespace exposim
