#include "exposim/joints/dof_forces.hpp"

#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

const DofLaw& law_of(const World& world, Index dof) { return world.joints().dofs[static_cast<std::size_t>(dof)]; }

/// The torque that the servo of a dof asks for.
double asked(const Motor& motor, const State& state, const Input& input, const VectorXd& error, Index i) {
  return input.tau(i) + motor.kp * error(i) + motor.kd * (input.target_velocity(i) - state.v(i));
}

}  // namespace

void Motors::clear(Index dofs) {
  torque.setZero(dofs);
  at_bound.assign(static_cast<std::size_t>(dofs), 0);
}

void Motors::add(double share, const Motors& others) {
  torque += share * others.torque;
  for (std::size_t i = 0; i < at_bound.size(); ++i) at_bound[i] |= others.at_bound[i];
}

void servo_errors(const World& world, const VectorXd& q, const VectorXd& target, VectorXd& error) {
  if (world.has_curved_servos()) {
    difference(world.robot(), q, target, error);
    return;
  }
  error.setZero(world.robot().nv());
  for (const Index i : world.acting_dofs()) {
    const Index in_q = world.robot().in_q(i);
    if (in_q >= 0) error(i) = target(in_q) - q(in_q);
  }
}

void update_dof_forces(const World& world, const State& state, const Input& input, DofForces& forces) {
  forces.all = input.tau;
  forces.motors.torque = input.tau;
  forces.motors.at_bound.assign(static_cast<std::size_t>(input.tau.size()), 0);
  if (world.acting_dofs().empty()) return;
  servo_errors(world, state.q, input.target, forces.error);
  for (const Index i : world.acting_dofs()) {
    const DofLaw& law = law_of(world, i);
    const double wanted = asked(law.motor, state, input, forces.error, i);
    const double torque = law.motor.clip(wanted, state.v(i));
    forces.motors.torque(i) = torque;
    forces.motors.at_bound[static_cast<std::size_t>(i)] = torque != wanted;
    forces.all(i) = torque - law.damping * state.v(i);
  }
  for (std::size_t k = 0; k < world.rough_dofs().size(); ++k) {
    const Index i = world.rough_dofs()[k];
    forces.all(i) += law_of(world, i).friction.force(state.v(i), state.grips[k]);
  }
}

void add_dof_force_derivatives(const World& world, const State& state, const Input& input, VectorXd& error,
                               Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v) {
  if (world.acting_dofs().empty()) return;
  servo_errors(world, state.q, input.target, error);
  for (const Index i : world.acting_dofs()) {
    const DofLaw& law = law_of(world, i);
    const double torque = asked(law.motor, state, input, error, i), v = state.v(i);
    by_v(i, i) -= law.damping;
    if (torque == law.motor.clip(torque, v)) {
      by_q(i, i) -= law.motor.kp;
      by_v(i, i) -= law.motor.kd;
    } else if (torque * v > 0.0 && std::abs(v) < law.motor.velocity) {
      by_v(i, i) -= law.motor.slope();
    }
  }
  for (std::size_t k = 0; k < world.rough_dofs().size(); ++k) {
    if (state.grips[k].slipping) continue;
    const Index i = world.rough_dofs()[k];
    by_q(i, i) -= law_of(world, i).friction.stiffness;
    by_v(i, i) -= law_of(world, i).friction.damping;
  }
}

void carry_grips(const World& world, const State& before, State& next) {
  next.grips = before.grips;
  if (next.grips.empty()) return;
  VectorXd way;
  if (world.has_curved_grips()) difference(world.robot(), before.q, next.q, way);
  for (std::size_t k = 0; k < next.grips.size(); ++k) {
    const Index i = world.rough_dofs()[k], in_q = world.robot().in_q(i);
    next.grips[k].s += way.size() > 0 ? way(i) : next.q(in_q) - before.q(in_q);
    law_of(world, i).friction.commit(next.v(i), next.grips[k]);
  }
}

}  // namespace exposim
