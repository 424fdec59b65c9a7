#include "exposim/robot/forward_dynamics.hpp"

#include <pinocchio/algorithm/aba.hpp>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::Vector3d;
using Eigen::VectorXd;

void clear_forces(RobotData& data) {
  for (pinocchio::Force& force : data.pinocchio().forces) force.setZero();
  data.pinocchio().joint_forces.setZero();
}

void add_force(RobotData& data, std::size_t joint, const Vector3d& p, const Vector3d& force) {
  RobotData::Pinocchio& pin = data.pinocchio();
  const BodyMotion& body = data.tree().bodies[joint];
  pin.forces[joint].linear() += Vector3d(transposed_times(body.R, force));
  pin.forces[joint].angular() += Vector3d(transposed_times(body.R, cross(p - body.p, force)));
}

void add_torque(RobotData& data, std::size_t joint, const Vector3d& torque) {
  const BodyMotion& body = data.tree().bodies[joint];
  data.pinocchio().forces[joint].angular() += Vector3d(transposed_times(body.R, torque));
}

void add_joint_force(RobotData& data, Eigen::Index dof, double force) { data.pinocchio().joint_forces(dof) += force; }

const VectorXd& acceleration(RobotData& data, const VectorXd& q, const VectorXd& v, const VectorXd& along_dofs,
                             const std::vector<ExternalWrench>& wrenches) {
  RobotData::Pinocchio& pin = data.pinocchio();
  for (const ExternalWrench& wrench : wrenches) {
    add_force(data, wrench.joint, world_position(data, wrench.joint, wrench.position), wrench.force);
    add_torque(data, wrench.joint, wrench.torque);
  }
  pin.tau = along_dofs + pin.joint_forces;
  return pinocchio::aba(data.robot().pinocchio().model, pin.data, ConstRef(q), ConstRef(v), ConstRef(pin.tau),
                        pin.forces);
}

}  // namespace exposim
