#include "exposim/integrators/dynamics_tangent.hpp"

#include <algorithm>
#include <utility>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

DynamicsTangent::DynamicsTangent(const World& world, const Input& input, const StepTangent& asked)
    : world_(world),
      input_(input),
      to_(world, asked.forces, asked.wrenches, asked.parameters.size()),
      wrenches_(asked.wrenches) {
  for (std::size_t p = 0; p < asked.parameters.size(); ++p) {
    const auto& [more, less, between] = asked.parameters[p];
    InertiaChanges changes = inertia_changes(more->robot(), less->robot(), between);
    if (changes.empty()) continue;
    of_bodies_.push_back(std::move(changes));
    mass_directions_.push_back(to_.parameters + static_cast<Index>(p));
  }
}

bool DynamicsTangent::supports(const World& world) {
  return has_motion_derivatives(world.robot()) && world.bonds().empty() && !world.has_curved_servos() &&
         world.rough_dofs().empty() && world.edges().empty() && world.carried().empty() && !world.has_free_slots();
}

PlaceTangent DynamicsTangent::start() const {
  PlaceTangent place{Tangent::Zero(to_.nv, to_.size), Tangent::Zero(to_.nv, to_.size), true};
  for (Index i = 0; i < to_.nv; ++i) place.dq(i, to_.q(i)) = place.dv(i, to_.v(i)) = 1.0;
  return place;
}

Tangent DynamicsTangent::moved(const VectorXd& q, const VectorXd& way, const Tangent& dq, const Tangent& dway) {
  Tangent result = dq + dway;
  const Robot& robot = world_.robot();
  integrate_derivatives(robot, q, way, A0_, A1_);
  for (const TreeJoint& joint : robot.tree().joints) {
    if (joint.kind != JointKind::kFree) continue;
    const Index k = joint.in_v;
    result.middleRows<6>(k) =
        A0_.block<6, 6>(k, k) * dq.middleRows<6>(k) + A1_.block<6, 6>(k, k) * dway.middleRows<6>(k);
  }
  return result;
}

void DynamicsTangent::take_terms(RobotData& data, const State& state, const PlaceTangent& at) {
  at_ = at;
  update_terms(data, state.q, state.v);
  factor(data);
  factor_ = data.factor();
  update_movers(data, movers_);
  derivatives_.take_terms(data);
  masses_.clear();
  for (const InertiaChanges& changes : of_bodies_) masses_.push_back(in_world(data, changes));
  update_dof_forces(world_, state, input_, forces_);
  dforce_.setZero(to_.nv, to_.size);
  for (Index i = 0; to_.by_forces() && i < to_.nv; ++i) {
    if (!forces_.motors.at_bound[static_cast<std::size_t>(i)]) dforce_(i, to_.force(i)) = 1.0;
  }
  if (wrenches_ > 0) {
    forces_of_wrenches(data, movers_, input_.wrenches, by_wrenches_);
    dforce_.middleCols(to_.wrenches, by_wrenches_.cols()) = by_wrenches_;
  }
  of_joints_by_q_.setZero(to_.nv, to_.nv);
  of_joints_by_v_.setZero(to_.nv, to_.nv);
  add_dof_force_derivatives(world_, state, input_, forces_.error, of_joints_by_q_, of_joints_by_v_);
}

void DynamicsTangent::add_by_q(const RowMatrixXd& A, Tangent& to) const {
  if (at_.at_start) {
    to.middleCols(to_.q(0), to_.nv) += A.leftCols(to_.nv);
  } else {
    multiply_rows(A.rows(), to_.nv, to.cols(), to.cols(), A.data(), A.cols(), at_.dq.data(), to.data(), to.data());
  }
  for (Index k = to_.nv; k < A.cols(); ++k) {
    to.col(mass_directions_[static_cast<std::size_t>(k - to_.nv)]) += A.col(k);
  }
}

void DynamicsTangent::add_by_v(const RowMatrixXd& A, Tangent& to) const {
  if (!at_.at_start) return add_product(A, at_.dv, to);
  to.middleCols(to_.v(0), to_.nv) += A;
}

Tangent DynamicsTangent::hold(RobotData& data, const VectorXd& a, const std::vector<Push>& pushes) {
  derivatives_.begin(data, a);
  for (const Push& push : pushes) {
    derivatives_.add_force(push.joint, world_position(data, push.joint, push.position), push.arm, push.force,
                           Vector3d::Zero());
  }
  for (const ExternalWrench& wrench : input_.wrenches) {
    derivatives_.add_force(wrench.joint, world_position(data, wrench.joint, wrench.position), Vector3d::Zero(),
                           wrench.force, wrench.torque);
  }
  derivatives_.compute(by_q_, &by_v_);
  by_q_ -= of_joints_by_q_;
  by_v_ -= of_joints_by_v_;
  Tangent residual = -dforce_;
  add_by_q(by_q_, residual);
  add_by_v(by_v_, residual);
  if (!masses_.empty()) accelerations_.update(data, movers_, a);
  for (std::size_t k = 0; k < masses_.size(); ++k) {
    residual.col(mass_directions_[k]) += force_by_inertia(data, movers_, accelerations_, masses_[k]);
  }
  return residual;
}

void DynamicsTangent::update_point(const RobotData& data, std::size_t joint, const Vector3d& position,
                                   const Vector3d& arm, ContactPointTangent& out) {
  update_point_tangent(data, movers_, joint, position, arm, point_);
  out.take(point_, at_.dq, at_.dv);
}

void DynamicsTangent::subtract_force(const Tangent& dlam, Tangent& from) const {
  for (std::size_t i = 0; i < point_.dofs->size(); ++i) {
    from.row((*point_.dofs)[i]).noalias() -= point_.J.col(static_cast<Index>(i)).transpose() * dlam;
  }
}

}  // namespace exposim
