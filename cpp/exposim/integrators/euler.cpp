#include "exposim/integrators/euler.hpp"

namespace exposim {

void Euler::advance(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input, double dt,
                    Eigen::VectorXd& q_next, Eigen::VectorXd& v_next, StepInfo& info) {
  dynamics.clear_forces();
  info.lam_pr.setZero();
  for (const std::size_t i : contacts.active()) {
    const std::size_t joint = dynamics.robot().points()[contacts.pair(i).point].joint;
    dynamics.add_force(joint, contacts.motion(i).p, contacts.force(i));
    info.lam_pr.row(static_cast<Eigen::Index>(i)) = contacts.force(i);
  }
  info.lam_pr2 = info.lam_pr;

  v_next = state.v + dt * dynamics.acceleration(state.q, state.v, input);
  displacement(state.v, v_next, dt, dq_);
  dynamics.integrate(state.q, dq_, q_next);
}

}  // namespace exposim
