#pragma once

#include <memory>

#include "exposim/integrators/integrator.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

/// Heun's method: v⁺ = v + dt/2 (v̇ + v̇₁), q⁺ = q ⊕ dt/2 (v + v₁), with v̇₁ at an explicit Euler step ahead.
///
/// Second order while no contact changes; explicit, so stable only for small steps.
class Heun final : public Integrator {
 public:
  std::unique_ptr<Scratch> make_scratch() const override { return std::make_unique<Ahead>(); }

  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const override {
    auto& [ahead, dv, dq] = static_cast<Ahead&>(*workspace.scratch);
    step.clear(world.strands());
    dv = acceleration(world, workspace, now, input);
    step.motors.clear(world.robot().nv());
    step.motors.add(0.5, workspace.dof_forces.motors);

    ahead.state.v = now.state.v + dt * dv;
    dq = dt * now.state.v;
    integrate(world.robot(), now.state.q, dq, ahead.state.q);
    ahead.state.memory = now.state.memory;
    commit(world, workspace.robot, now, nullptr, ahead);  // the laws there, not to be kept

    State& next = step.next.state;
    next.v = now.state.v + 0.5 * dt * (dv + acceleration(world, workspace, ahead, input));
    step.motors.add(0.5, workspace.dof_forces.motors);
    dq = 0.5 * dt * (now.state.v + ahead.state.v);
    integrate(world.robot(), now.state.q, dq, next.q);
    next.memory = now.state.memory;
    step.lam = 0.5 * (now.lam + ahead.lam);
    step.lam2 = now.lam;
    finish(world, workspace, now, nullptr, dt, step);
  }

 private:
  struct Ahead final : Scratch {
    Instant ahead;
    Eigen::VectorXd dv, dq;
  };
};

}  // namespace exposim
