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

/// Of the point at a lever from the origin of a body, by the velocities, or their rates, that begin there.
template <typename Vector>
Vector3d at_lever(const Vector& v, Eigen::Index in_v, const Vector3d& lever) {
  return v.template segment<3>(in_v) + Vector3d(v.template segment<3>(in_v + 3)).cross(lever);
}

}  // namespace

void move_free_bodies(const RobotData& data, const VectorXd& q_start, const VectorXd& v_start,
                      const Eigen::MatrixX2d& dv, double dt, VectorXd& q, VectorXd& v) {
  const Tree& tree = data.robot().tree();
  for (const std::size_t i : tree.free_bodies) {
    const TreeJoint& joint = tree.joints[i];
    const BodyMotion& there = data.tree().bodies[i];
    const Eigen::Index in_q = joint.in_q, in_v = joint.in_v;
    const Vector3d lever = joint.lever;
    const Vec3 turning = cross(there.omega, there.v + cross(there.omega, there.R * joint.lever));
    const Matrix3d R_start = rotation_at(q_start, in_q), R = rotation_at(q, in_q);
    const Vector3d c = q_start.segment<3>(in_q) + R_start * lever, dc = R_start * at_lever(v_start, in_v, lever);
    const auto acceleration = [&](Eigen::Index column) -> Vector3d {
      return transposed_times(joint.turn, there.R * Vec3(at_lever(dv.col(column), in_v, lever)) + turning);
    };
    const Vector3d ddc = acceleration(0), ddc2 = acceleration(1);
    q.segment<3>(in_q) = c + dt * (dc + 0.5 * dt * ddc2) - R * lever;
    v.segment<3>(in_v) = R.transpose() * (dc + dt * ddc) - v.segment<3>(in_v + 3).cross(lever);
  }
}

void turn_free_bodies(const RobotData& data, Eigen::Ref<VectorXd> dv) {
  const Tree& tree = data.robot().tree();
  for (const std::size_t i : tree.free_bodies) {
    const TreeJoint& joint = tree.joints[i];
    const Column* const columns = data.tree().columns.data() + joint.in_v;
    const Mat3 from{{columns[0].linear, columns[1].linear, columns[2].linear}};
    const auto turned = [&](const Vector3d& a) -> Vector3d {
      return transposed_times(data.tree().bodies[i].R, from * Vec3(a));
    };
    const Vector3d lever = joint.lever, dc = turned(at_lever(dv, joint.in_v, lever));
    dv.segment<3>(joint.in_v + 3) = turned(dv.segment<3>(joint.in_v + 3));
    dv.segment<3>(joint.in_v) = dc - dv.segment<3>(joint.in_v + 3).cross(lever);
  }
}

void keep_free_bodies(const RobotData& data, const VectorXd& q_before, const VectorXd& q, VectorXd& v) {
  const Tree& tree = data.robot().tree();
  for (const std::size_t i : tree.free_bodies) {
    const TreeJoint& joint = tree.joints[i];
    const Vector3d lever = joint.lever;
    const Vector3d dc = rotation_at(q_before, joint.in_q) * at_lever(v, joint.in_v, lever);
    v.segment<3>(joint.in_v) = rotation_at(q, joint.in_q).transpose() * dc - v.segment<3>(joint.in_v + 3).cross(lever);
  }
}

}  // namespace exposim
