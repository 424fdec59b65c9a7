#include "exposim/integrators/euler.hpp"

namespace exposim {

void Euler::advance(Scene& scene, const State& state, const Input& input, double dt, Eigen::VectorXd& q_next,
                    Eigen::VectorXd& v_next, StepInfo& info) {
  const Eigen::VectorXd& dv = scene.acceleration(state.q, state.v, input);
  const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
  info.hold_forces(scene.contacts);
  v_next = state.v + dt * dv;
  displacement(state.v, v_next, dt, dq_);
  scene.dynamics.integrate(state.q, dq_, q_next);
}

}  // namespace exposim
