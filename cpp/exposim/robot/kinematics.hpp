#pragma once

#include <Eigen/Core>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Motion of a point of a body, world frame.
struct PointMotion {
  Eigen::Vector3d position;  ///< [m]
  Eigen::Vector3d velocity;  ///< [m/s]
  Eigen::Vector3d omega;     ///< angular velocity of its body [rad/s]
};

/// Placements and velocities of all bodies. Where they are those of (q, v) already, nothing is computed.
void update_kinematics(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

// Of the last update_kinematics or update_terms; joint 0 is the world.
/// @param position in the joint's frame.
PointMotion point_motion(const RobotData& data, std::size_t joint, const Eigen::Vector3d& position);
Eigen::Vector3d world_position(const RobotData& data, std::size_t joint, const Eigen::Vector3d& position);
/// Where a point of the world is in the joint's frame.
Eigen::Vector3d position_in(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p);
/// Velocity of the point of a body that is now at p (world).
Eigen::Vector3d velocity_at(const RobotData& data, std::size_t joint, const Eigen::Vector3d& p);
Eigen::Vector3d angular_velocity(const RobotData& data, std::size_t joint);
Eigen::Matrix3d rotation(const RobotData& data, std::size_t joint);
/// Angular speed of the body that turns fastest [rad/s], not counting rotors and balls, which look the same however
/// they are turned.
double fastest_turn(const RobotData& data);

/// q ⊕ dq
void integrate(const Robot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& dq, Eigen::VectorXd& q_next);
/// q_next ⊖ q
void difference(const Robot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& q_next, Eigen::VectorXd& dq);
/// ∂(q ⊕ dq)/∂dq, block-diagonal.
void integrate_derivative(const Robot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& dq,
                          Eigen::MatrixXd& out);
/// Both of its derivatives: by q and by dq.
void integrate_derivatives(const Robot& robot, const Eigen::VectorXd& q, const Eigen::VectorXd& dq,
                           Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_dq);
/// Those of a free body, moved by dq, six numbers each.
struct MoveDerivatives {
  Eigen::Matrix<double, 6, 6> by_q, by_dq;
};
MoveDerivatives free_move_derivatives(const Eigen::Matrix<double, 6, 1>& dq);
/// Whether the unit parts of q (quaternions, cosine and sine) have length one within a tolerance.
bool is_normalised(const Robot& robot, const Eigen::VectorXd& q, double tolerance);
/// Brings the unit parts of q to length one.
void normalise(const Robot& robot, Eigen::VectorXd& q);

}  // namespace exposim
