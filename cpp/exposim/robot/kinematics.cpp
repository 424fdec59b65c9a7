#include "exposim/robot/kinematics.hpp"

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void update_kinematics(RobotData& data, const VectorXd& q, const VectorXd& v) {
  RobotData::Pinocchio& pin = data.pinocchio();
  if (pin.placed && pin.q == q && pin.v == v) return;
  pinocchio::forwardKinematics(pin.model, pin.data, ConstRef(q), ConstRef(v));
  pin.q = q;
  pin.v = v;
  pin.placed = true;
}

PointMotion point_motion(const RobotData& data, std::size_t joint, const Vector3d& position) {
  const pinocchio::SE3& oMi = data.pinocchio().data.oMi[joint];
  const pinocchio::Motion& v = data.pinocchio().data.v[joint];
  return {oMi.act(position), oMi.rotation() * (v.linear() + v.angular().cross(position)), oMi.rotation() * v.angular()};
}

Vector3d world_position(const RobotData& data, std::size_t joint, const Vector3d& position) {
  return data.pinocchio().data.oMi[joint].act(position);
}

Eigen::Matrix3d rotation(const RobotData& data, std::size_t joint) {
  return data.pinocchio().data.oMi[joint].rotation();
}

double fastest_turn(const RobotData& data) {
  double most = 0.0;
  for (const std::size_t joint : data.robot().pinocchio().turning) {
    most = std::max(most, data.pinocchio().data.v[joint].angular().squaredNorm());
  }
  return std::sqrt(most);
}

void integrate(const Robot& robot, const VectorXd& q, const VectorXd& dq, VectorXd& q_next) {
  q_next.resize(q.size());
  pinocchio::integrate(robot.pinocchio().model, q, dq, q_next);
}

void difference(const Robot& robot, const VectorXd& q, const VectorXd& q_next, VectorXd& dq) {
  dq.resize(robot.nv());
  pinocchio::difference(robot.pinocchio().model, q, q_next, dq);
}

void integrate_derivative(const Robot& robot, const VectorXd& q, const VectorXd& dq, MatrixXd& out) {
  out.setZero(robot.nv(), robot.nv());
  pinocchio::dIntegrate(robot.pinocchio().model, q, dq, out, pinocchio::ARG1);
}

bool is_normalised(const Robot& robot, const VectorXd& q, double tolerance) {
  return pinocchio::isNormalized(robot.pinocchio().model, q, tolerance);
}

void normalise(const Robot& robot, VectorXd& q) { pinocchio::normalize(robot.pinocchio().model, q); }

}  // namespace exposim
