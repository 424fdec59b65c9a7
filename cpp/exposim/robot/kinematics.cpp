#include "exposim/robot/kinematics.hpp"

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/joint-configuration.hpp>

#include "exposim/robot/displacement.hpp"
#include "exposim/robot/pinocchio_model.hpp"
#include "exposim/robot/sweeps.hpp"

namespace exposim {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void update_kinematics(RobotData& data, const VectorXd& q, const VectorXd& v) {
  TreeData& tree = data.tree();
  if (tree.placed && tree.q == q && tree.v == v) return;
  sweep_motions(data.robot().tree(), q, v, tree);
  tree.q = q;
  tree.v = v;
  tree.placed = true;
}

PointMotion point_motion(const RobotData& data, std::size_t joint, const Vector3d& position) {
  const BodyMotion& body = data.tree().bodies[joint];
  const Vec3 r = body.R * position;
  return {body.p + r, body.v + cross(body.omega, r), body.omega};
}

Vector3d world_position(const RobotData& data, std::size_t joint, const Vector3d& position) {
  const BodyMotion& body = data.tree().bodies[joint];
  return body.p + body.R * position;
}

Vector3d position_in(const RobotData& data, std::size_t joint, const Vector3d& p) {
  const BodyMotion& body = data.tree().bodies[joint];
  return transposed_times(body.R, p - body.p);
}

Vector3d velocity_at(const RobotData& data, std::size_t joint, const Vector3d& p) {
  const BodyMotion& body = data.tree().bodies[joint];
  return body.v + cross(body.omega, p - body.p);
}

Vector3d angular_velocity(const RobotData& data, std::size_t joint) { return data.tree().bodies[joint].omega; }

Eigen::Matrix3d rotation(const RobotData& data, std::size_t joint) { return data.tree().bodies[joint].R.matrix(); }

double fastest_turn(const RobotData& data) {
  double most = 0.0;
  for (const std::size_t joint : data.robot().pinocchio().turning) {
    const Vec3& omega = data.tree().bodies[joint].omega;
    most = std::max(most, dot(omega, omega));
  }
  return std::sqrt(most);
}

void integrate(const Robot& robot, const VectorXd& q, const VectorXd& dq, VectorXd& q_next) {
  q_next.resize(q.size());
  if (robot.tree().has_others) {
    pinocchio::integrate(robot.pinocchio().model, q, dq, q_next);
    return;
  }
  for (const TreeJoint& joint : robot.tree().joints) {
    const double *const from = q.data() + joint.in_q, *const by = dq.data() + joint.in_v;
    double* const to = q_next.data() + joint.in_q;
    if (joint.kind == JointKind::kFree) {
      displace_free(from, by, to);
    } else if (joint.kind == JointKind::kEndlessHinge) {
      displace_endless(from, by, to);
    } else if (joint.nv == 1) {
      to[0] = from[0] + by[0];
    }
  }
}

void difference(const Robot& robot, const VectorXd& q, const VectorXd& q_next, VectorXd& dq) {
  dq.resize(robot.nv());
  pinocchio::difference(robot.pinocchio().model, q, q_next, dq);
}

void integrate_derivative(const Robot& robot, const VectorXd& q, const VectorXd& dq, MatrixXd& out) {
  out.setZero(robot.nv(), robot.nv());
  pinocchio::dIntegrate(robot.pinocchio().model, q, dq, out, pinocchio::ARG1);
}

void integrate_derivatives(const Robot& robot, const VectorXd& q, const VectorXd& dq, MatrixXd& by_q, MatrixXd& by_dq) {
  integrate_derivative(robot, q, dq, by_dq);
  by_q.setZero(robot.nv(), robot.nv());
  pinocchio::dIntegrate(robot.pinocchio().model, q, dq, by_q, pinocchio::ARG0);
}

MoveDerivatives free_move_derivatives(const Eigen::Matrix<double, 6, 1>& dq) {
  const pinocchio::Motion move(dq);
  MoveDerivatives found;
  found.by_q = pinocchio::exp6(move).toActionMatrixInverse();
  pinocchio::Jexp6(move, found.by_dq);
  return found;
}

bool is_normalised(const Robot& robot, const VectorXd& q, double tolerance) {
  return pinocchio::isNormalized(robot.pinocchio().model, q, tolerance);
}

void normalise(const Robot& robot, VectorXd& q) { pinocchio::normalize(robot.pinocchio().model, q); }

}  // namespace exposim
