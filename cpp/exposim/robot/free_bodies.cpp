#include "exposim/robot/free_bodies.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Matrix3d rotation_at(const VectorXd& q, int first) {
  return Eigen::Quaterniond(q(first + 6), q(first + 3), q(first + 4), q(first + 5)).toRotationMatrix();
}

}  // namespace

void move_free_bodies(const RobotData& data, const VectorXd& q_start, const VectorXd& v_start,
                      const Eigen::MatrixX2d& dv, double dt, VectorXd& q, VectorXd& v) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  for (const std::size_t joint : pin.model.children[0]) {
    if (boost::get<pinocchio::JointModelFreeFlyer>(&pin.model.joints[joint].toVariant()) == nullptr) continue;
    const int in_q = pin.model.idx_qs[joint], in_v = pin.model.idx_vs[joint];
    const Matrix3d& axes = pin.model.jointPlacements[joint].rotation();
    const pinocchio::Motion& there = pin.data.v[joint];
    const Matrix3d R_there = axes.transpose() * pin.data.oMi[joint].rotation();
    const Vector3d turning = there.angular().cross(there.linear());
    const Vector3d dc = rotation_at(q_start, in_q) * v_start.segment<3>(in_v);
    const Vector3d ddc = R_there * (dv.col(0).segment<3>(in_v) + turning);
    const Vector3d ddc2 = R_there * (dv.col(1).segment<3>(in_v) + turning);
    q.segment<3>(in_q) = q_start.segment<3>(in_q) + dt * (dc + 0.5 * dt * ddc2);
    v.segment<3>(in_v) = rotation_at(q, in_q).transpose() * (dc + dt * ddc);
  }
}

}  // namespace exposim
