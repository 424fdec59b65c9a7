#include "exposim/integrators/runge_kutta4.hpp"

#include <array>

#include "exposim/integrators/scheme_tangent.hpp"
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

bool RungeKutta4::differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input,
                                double dt, Step& step, StepTangent& out) const {
  if (!SchemeTangent::supports(world)) return false;
  this->step(world, workspace, now, input, dt, step);
  if (step.diverged) return false;
  const auto& scratch = static_cast<const RungeKuttaScratch&>(*workspace.scratch);
  const std::array<Instant, 4>& stages = scratch.stages;
  const Eigen::VectorXd &q = now.state.q, &v1 = now.state.v, &v2 = stages[1].state.v, &v3 = stages[2].state.v,
                        &v4 = stages[3].state.v;
  SchemeTangent tangent(world, now, input, out);
  tangent.begin(workspace.robot);
  const PlaceTangent start = tangent.start();
  std::array<PlaceTangent, 4> at;
  std::array<Tangent, 4> da;
  at[0] = start;
  da[0] = tangent.accelerate(workspace.robot, scratch.dv[0]);
  const auto accelerate = [&](std::size_t i, double h) {
    at[i].dv = start.dv + h * da[i - 1];
    da[i] = tangent.accelerate(workspace.robot, stages[i], at[i], scratch.dv[i]);
  };
  at[1].dq = tangent.moved(q, 0.5 * dt * v1, start.dq, 0.5 * dt * start.dv);
  accelerate(1, 0.5 * dt);
  at[2].dq = tangent.moved(q, 0.5 * dt * v2, start.dq, 0.5 * dt * at[1].dv);
  accelerate(2, 0.5 * dt);
  at[3].dq = tangent.moved(stages[1].state.q, dt * (v3 - 0.5 * v1), at[1].dq, dt * (at[2].dv - 0.5 * start.dv));
  accelerate(3, dt);

  const auto mean = [&](double a, double b, const auto& x1, const auto& x2, const auto& x3, const auto& x4) {
    return (dt / 12.0 * (a * x1 + 2.0 * x2 + 2.0 * x3 + b * x4)).eval();
  };
  PlaceTangent next;
  next.dv = start.dv + dt / 6.0 * (da[0] + 2.0 * da[1] + 2.0 * da[2] + da[3]);
  const Tangent halfway = tangent.moved(q, mean(3.0, -1.0, v1, v2, v3, v4), start.dq,
                                        mean(3.0, -1.0, at[0].dv, at[1].dv, at[2].dv, at[3].dv));
  next.dq = tangent.moved(scratch.halfway, mean(-1.0, 3.0, v1, v2, v3, v4), halfway,
                          mean(-1.0, 3.0, at[0].dv, at[1].dv, at[2].dv, at[3].dv));
  tangent.end(workspace.robot, step, next);
  return tangent.supported();
}

}  // namespace exposim
