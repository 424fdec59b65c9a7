#pragma once

#include <Eigen/Core>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// ∂v̇/∂q, ∂v̇/∂v of the last acceleration() at (q, v) with the forces on the bodies fixed in their frames, and M⁻¹.
void update_acceleration_derivatives(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

// Of the last update_acceleration_derivatives:
const RowMatrixXd& ddq_dq(const RobotData& data);
const RowMatrixXd& ddq_dv(const RobotData& data);
/// M⁻¹, both triangles.
const Eigen::MatrixXd& M_inverse(const RobotData& data);

/// Of the point of a body that is at p = c + arm now and stays at that arm from its centre c (world): ∂p/∂q,
/// and for the velocity ṗ of the body there, ∂ṗ/∂q and ∂ṗ/∂v; J_omega of the body. Each 3 × nv.
struct PointDerivatives {
  Eigen::Matrix3Xd dp_dq, ddp_dq, J, J_omega;
};
void point_derivatives(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p, const Eigen::Vector3d& arm,
                       PointDerivatives& out);

}  // namespace exposim
