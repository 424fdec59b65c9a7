#pragma once

#include <Eigen/Core>

#include "exposim/robot/motion_derivatives.hpp"

namespace exposim {

inline Eigen::Matrix3d skew(const Eigen::Vector3d& a) {
  Eigen::Matrix3d result;
  result << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return result;
}

/// How a body moves where something else is, c, which does not go along: by all degrees of freedom, in world axes. Of
/// the world all of it is zero.
struct BodyTangent {
  Eigen::Matrix3Xd J_omega;         ///< rotation by q, angular velocity by v
  Eigen::Matrix3Xd omega_by_q;      ///< angular velocity
  Eigen::Matrix3Xd J;               ///< of what it has there: position by q, velocity by v
  Eigen::Matrix3Xd velocity_by_q;   ///< of what it has there
  Eigen::Vector3d omega, velocity;  ///< there
};
/// By the last kinematics. @param c in the world.
void update_body_tangent(const RobotData& data, const Movers& movers, std::size_t joint, const Eigen::Vector3d& c,
                         BodyTangent& out);

}  // namespace exposim
