#include "step_floor.hpp"

#include <chrono>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <string>

#include "exposim/robot/pinocchio_model.hpp"

namespace exposim {

using Eigen::VectorXd;
using ConstRef = Eigen::Ref<const VectorXd>;
using Clock = std::chrono::steady_clock;

struct StepFloor::Scratch {
  explicit Scratch(const Robot& robot) : model(robot.pinocchio().model) {
    for (const ContactPoint& point : robot.points()) {
      const pinocchio::SE3 placement(Eigen::Matrix3d::Identity(), point.position);
      frames.push_back(model.addFrame(
          pinocchio::Frame("contact_" + std::to_string(frames.size()), point.joint, placement, pinocchio::OP_FRAME)));
    }
    data = pinocchio::Data(model);
    tau.setZero(model.nv);
    q_next.setZero(model.nq);
  }

  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<pinocchio::FrameIndex> frames;
  VectorXd tau, dq, q_next;
  pinocchio::Data::Matrix6x J;
  Eigen::MatrixXd Jt;
};

StepFloor::StepFloor(const Robot& robot) : scratch_(std::make_unique<Scratch>(robot)) {}
StepFloor::~StepFloor() = default;

double StepFloor::time_explicit_euler(const VectorXd& q, const VectorXd& v, const std::vector<std::size_t>& points) {
  Scratch& s = *scratch_;
  s.J.setZero(6, s.model.nv);
  const Clock::time_point start = Clock::now();
  pinocchio::forwardKinematics(s.model, s.data, ConstRef(q), ConstRef(v));
  pinocchio::computeJointJacobians(s.model, s.data);
  for (const std::size_t point : points) {
    pinocchio::updateFramePlacement(s.model, s.data, s.frames[point]);
    pinocchio::getFrameJacobian(s.model, s.data, s.frames[point], pinocchio::LOCAL_WORLD_ALIGNED, s.J);
  }
  pinocchio::aba(s.model, s.data, ConstRef(q), ConstRef(v), ConstRef(s.tau));
  s.dq = 1e-3 * v;
  pinocchio::integrate(s.model, q, s.dq, s.q_next);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double StepFloor::time_expo(const VectorXd& q, const VectorXd& v, const std::vector<std::size_t>& points) {
  Scratch& s = *scratch_;
  s.J.setZero(6, s.model.nv);
  s.Jt.setZero(s.model.nv, 3 * static_cast<Eigen::Index>(points.size()));
  const Clock::time_point start = Clock::now();
  pinocchio::crba(s.model, s.data, ConstRef(q), pinocchio::Convention::WORLD);  // also fills the joint Jacobians
  pinocchio::nonLinearEffects(s.model, s.data, ConstRef(q), ConstRef(v));
  Eigen::Index column = 0;
  for (const std::size_t point : points) {
    pinocchio::updateFramePlacement(s.model, s.data, s.frames[point]);
    pinocchio::getFrameJacobian(s.model, s.data, s.frames[point], pinocchio::LOCAL_WORLD_ALIGNED, s.J);
    s.Jt.middleCols<3>(column) = s.J.topRows<3>().transpose();
    column += 3;
  }
  pinocchio::cholesky::decompose(s.model, s.data);
  pinocchio::cholesky::solve(s.model, s.data, s.Jt);
  s.dq = 1e-3 * v;
  pinocchio::integrate(s.model, q, s.dq, s.q_next);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace exposim
