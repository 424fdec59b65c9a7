#include "exposim/robot/body_tangent.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::Vector3d;

void update_body_tangent(const RobotData& data, const Movers& movers, std::size_t joint, const Vector3d& c,
                         BodyTangent& out) {
  const auto nv = static_cast<Index>(movers.size());
  for (Matrix3Xd* each : {&out.J_omega, &out.omega_by_q, &out.J, &out.velocity_by_q}) each->setZero(3, nv);
  out.omega.setZero();
  out.velocity.setZero();
  if (joint == 0) return;
  out.omega = angular_velocity(data, joint);
  out.velocity = velocity_at(data, joint, c);
  for (const Index k : data.robot().supports(joint)) {
    const Mover& mover = movers[static_cast<std::size_t>(k)];
    const Vector3d r = mover.at(c), omega_p = angular_velocity(data, mover.parent);
    const Vector3d past = out.velocity - velocity_at(data, mover.parent, c);
    out.J_omega.col(k) = mover.angular;
    out.omega_by_q.col(k) = mover.angular.cross(out.omega - omega_p);
    out.J.col(k) = r;
    out.velocity_by_q.col(k) = omega_p.cross(r) + mover.angular.cross(past);
  }
}

}  // namespace exposim
