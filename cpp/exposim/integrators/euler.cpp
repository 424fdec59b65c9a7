#include "exposim/integrators/euler.hpp"

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

}  // namespace exposim
