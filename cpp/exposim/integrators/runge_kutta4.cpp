#include "exposim/integrators/runge_kutta4.hpp"

#include <array>

#include "exposim/robot/kinematics.hpp"

namespace exposim {

namespace {

struct RungeKuttaScratch final : Scratch {
  std::array<Instant, 4> stages;  // the first is not used: it is the start
  std::array<Eigen::VectorXd, 4> dv;
  Eigen::VectorXd dq, halfway;
};

}  // namespace

std::unique_ptr<Scratch> RungeKutta4::make_scratch() const { return std::make_unique<RungeKuttaScratch>(); }

void RungeKutta4::step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                       Step& step) const {
  auto& [stages, dv, dq, halfway] = static_cast<RungeKuttaScratch&>(*workspace.scratch);
  const auto move = [&, &dq = dq](const Eigen::VectorXd& from, const auto& displacement, Eigen::VectorXd& to) {
    const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
    dq = displacement;
    integrate(world.robot(), from, dq, to);
  };
  const auto evaluate = [&, &stages = stages, &dv = dv](std::size_t i) {
    Instant& stage = stages[i];
    {
      const Profiler::Scope scope(workspace.profiler, Stage::kContacts);
      stage.state.memory = now.state.memory;
      commit(world, workspace.robot, now, nullptr, stage);
    }
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    dv[i] = acceleration(world, workspace, stage, input);
    step.motors.add(i == 3 ? 1.0 / 6.0 : 1.0 / 3.0, workspace.dof_forces.motors);
    step.lam += (i == 3 ? 1.0 / 6.0 : 1.0 / 3.0) * stage.lam;
    if (i != 3) step.lam2 += 1.0 / 3.0 * stage.lam;
  };

  step.clear(world.strands());
  const State& start = now.state;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    dv[0] = acceleration(world, workspace, now, input);  // the committed forces
    step.motors.clear(world.robot().nv());
    step.motors.add(1.0 / 6.0, workspace.dof_forces.motors);
    step.lam += 1.0 / 6.0 * now.lam;
    step.lam2 += 1.0 / 3.0 * now.lam;
  }
  move(start.q, 0.5 * dt * start.v, stages[1].state.q);
  stages[1].state.v = start.v + 0.5 * dt * dv[0];
  evaluate(1);

  move(start.q, 0.5 * dt * stages[1].state.v, stages[2].state.q);
  stages[2].state.v = start.v + 0.5 * dt * dv[1];
  evaluate(2);

  move(stages[1].state.q, dt * (stages[2].state.v - 0.5 * start.v), stages[3].state.q);
  stages[3].state.v = start.v + dt * dv[2];
  evaluate(3);

  State& next = step.next.state;
  const Eigen::VectorXd &v1 = start.v, &v2 = stages[1].state.v, &v3 = stages[2].state.v, &v4 = stages[3].state.v;
  next.v = start.v + dt / 6.0 * (dv[0] + 2.0 * dv[1] + 2.0 * dv[2] + dv[3]);
  move(start.q, dt / 12.0 * (3.0 * v1 + 2.0 * v2 + 2.0 * v3 - v4), halfway);
  move(halfway, dt / 12.0 * (-v1 + 2.0 * v2 + 2.0 * v3 + 3.0 * v4), next.q);
  next.memory = now.state.memory;
  finish(world, workspace, now, nullptr, dt, step);
}

}  // namespace exposim
