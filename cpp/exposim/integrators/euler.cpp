#include "exposim/integrators/euler.hpp"

#include "exposim/integrators/scheme_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

namespace {

struct EulerScratch final : Scratch {
  Eigen::VectorXd dq;
};

}  // namespace

std::unique_ptr<Scratch> Euler::make_scratch() const { return std::make_unique<EulerScratch>(); }

void Euler::step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                 Step& step) const {
  Eigen::VectorXd& dq = static_cast<EulerScratch&>(*workspace.scratch).dq;
  step.clear(world.strands());
  State& next = step.next.state;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    next.v = now.state.v + dt * acceleration(world, workspace, now, input);
    step.motors = workspace.dof_forces.motors;
  }
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
    displacement(now.state.v, next.v, dt, dq);
    integrate(world.robot(), now.state.q, dq, next.q);
    next.memory = now.state.memory;
    step.lam = step.lam2 = now.lam;
  }
  finish(world, workspace, now, nullptr, dt, step);
}

bool Euler::differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                          Step& step, StepTangent& out) const {
  if (!SchemeTangent::supports(world)) return false;
  this->step(world, workspace, now, input, dt, step);
  if (step.diverged) return false;
  SchemeTangent tangent(world, now, input, out);
  tangent.begin(workspace.robot);
  const Eigen::VectorXd a = acceleration(world, workspace, now, input);
  const PlaceTangent start = tangent.start();
  PlaceTangent next;
  next.dv = start.dv + dt * tangent.accelerate(workspace.robot, a);
  const auto [by_v, by_v_next] = displacement_derivatives(dt);
  Eigen::VectorXd way;
  displacement(now.state.v, step.next.state.v, dt, way);
  next.dq = tangent.moved(now.state.q, way, start.dq, by_v * start.dv + by_v_next * next.dv);
  tangent.end(workspace.robot, step, next);
  return tangent.supported();
}

}  // namespace exposim
