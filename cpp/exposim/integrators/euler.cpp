#include "exposim/integrators/euler.hpp"

namespace exposim {

void Euler::advance(Scene& scene, const State& state, const Input& input, double dt, State& next, StepInfo& info) {
  const Eigen::VectorXd& dv = scene.acceleration(state.q, state.v, input);
  const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
  info.hold_forces(scene.contacts);
  next.v = state.v + dt * dv;
  displacement(state.v, next.v, dt, dq_);
  scene.dynamics.integrate(state.q, dq_, next.q);
}

}  // namespace exposim
