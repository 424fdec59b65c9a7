#include "exposim/integrators/runge_kutta4.hpp"

namespace exposim {

void RungeKutta4::advance(Scene& scene, const State& state, const Input& input, double dt, State& next,
                          StepInfo& info) {
  const auto move = [&](const Eigen::VectorXd& from, const auto& displacement, Eigen::VectorXd& to) {
    const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
    dq_ = displacement;
    to.resize(from.size());
    scene.dynamics.integrate(from, dq_, to);
  };
  const auto evaluate = [&](std::size_t stage) {
    dv_[stage] = scene.acceleration_within_step(q_[stage], v_[stage], state.contacts, input);
    info.add_forces(scene.contacts, stage == 0 || stage == 3 ? 1.0 / 6.0 : 1.0 / 3.0, stage == 3 ? 0.0 : 1.0 / 3.0);
  };

  info.lam_pr.setZero();
  info.lam_pr2.setZero();
  v_[0] = state.v;
  dv_[0] = scene.acceleration(state.q, state.v, input);  // the committed forces
  info.add_forces(scene.contacts, 1.0 / 6.0, 1.0 / 3.0);

  move(state.q, 0.5 * dt * v_[0], q_[1]);
  v_[1] = state.v + 0.5 * dt * dv_[0];
  evaluate(1);

  move(state.q, 0.5 * dt * v_[1], q_[2]);
  v_[2] = state.v + 0.5 * dt * dv_[1];
  evaluate(2);

  move(q_[1], dt * (v_[2] - 0.5 * v_[0]), q_[3]);
  v_[3] = state.v + dt * dv_[2];
  evaluate(3);

  next.v = state.v + dt / 6.0 * (dv_[0] + 2.0 * dv_[1] + 2.0 * dv_[2] + dv_[3]);
  move(state.q, dt / 12.0 * (3.0 * v_[0] + 2.0 * v_[1] + 2.0 * v_[2] - v_[3]), halfway_);
  move(halfway_, dt / 12.0 * (-v_[0] + 2.0 * v_[1] + 2.0 * v_[2] + 3.0 * v_[3]), next.q);
}

}  // namespace exposim
