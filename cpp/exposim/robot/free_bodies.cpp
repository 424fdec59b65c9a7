#include "exposim/robot/free_bodies.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Matrix3d rotation_at(const VectorXd& q, Eigen::Index first) {
  return Eigen::Quaterniond(q(first + 6), q(first + 3), q(first + 4), q(first + 5)).toRotationMatrix();
}

}  // namespace

void move_free_bodies(const RobotData& data, const VectorXd& q_start, const VectorXd& v_start,
                      const Eigen::MatrixX2d& dv, double dt, VectorXd& q, VectorXd& v) {
  const Tree& tree = data.robot().tree();
  for (const std::size_t i : tree.free_bodies) {
    const TreeJoint& joint = tree.joints[i];
    const BodyMotion& there = data.tree().bodies[i];
    const Eigen::Index in_q = joint.in_q, in_v = joint.in_v;
    const Vec3 turning = cross(there.omega, there.v);
    const Vector3d dc = rotation_at(q_start, in_q) * v_start.segment<3>(in_v);
    const auto acceleration = [&](Eigen::Index column) -> Vector3d {
      return transposed_times(joint.turn, there.R * Vec3(dv.col(column).segment<3>(in_v)) + turning);
    };
    const Vector3d ddc = acceleration(0), ddc2 = acceleration(1);
    q.segment<3>(in_q) = q_start.segment<3>(in_q) + dt * (dc + 0.5 * dt * ddc2);
    v.segment<3>(in_v) = rotation_at(q, in_q).transpose() * (dc + dt * ddc);
  }
}

}  // namespace exposim
