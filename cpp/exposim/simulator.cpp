#include "exposim/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace exposim {

namespace {

bool is_sane(const State& state) {
  return state.q.allFinite() && state.v.allFinite() && state.v.cwiseAbs().maxCoeff() < Simulator::kMaxVelocity;
}

/// t + dt, as a multiple of dt where t is one, so that rounding does not add up.
double time_after(double t, double dt) {
  const double steps = std::round(t / dt);
  return std::abs(t - steps * dt) < 1e-14 * dt * std::max(1.0, steps) ? (steps + 1.0) * dt : t + dt;
}

}  // namespace

Simulator::Simulator(std::shared_ptr<const Robot> robot, std::vector<ContactPair> pairs,
                     std::vector<std::optional<Eigen::Vector3d>> anchors, std::unique_ptr<Integrator> integrator,
                     double dt)
    : scene_{Dynamics(std::move(robot)), ContactSet(std::move(pairs)), Profiler()},
      anchors_(std::move(anchors)),
      integrator_(std::move(integrator)),
      dt_(dt) {}

void Simulator::reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const ContactSet& contacts = scene_.contacts;
  state_ = State{0.0, q, v, std::vector<ContactState>(contacts.size())};
  scene_.dynamics.update_kinematics(q, v);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!contacts.pair(i).law.bilateral()) continue;
    state_.contacts[i].active = true;
    state_.contacts[i].p0 = anchors_[i].value_or(scene_.dynamics.point_motion(contacts.pair(i).point).position);
  }
  scene_.commit(state_);
  next_ = state_;
  const auto rows = static_cast<Eigen::Index>(contacts.size());
  const Eigen::MatrixX3d zero = Eigen::MatrixX3d::Zero(rows, 3);
  info_ = StepInfo{{}, {}, {}, zero, zero, zero};
  statistics_ = {};
  scene_.profiler.clear();
  divergence_.reset();
}

void Simulator::set_state(const State& state) {
  reset(state.q, state.v);
  state_ = state;
  scene_.contacts.evaluate(scene_.dynamics, state_);
}

bool Simulator::step(const Input& input, int n) {
  for (int i = 0; i < n; ++i) {
    next_.contacts = state_.contacts;
    integrator_->advance(scene_, state_, input, dt_, next_, info_);
    next_.t = time_after(state_.t, dt_);
    if (!is_sane(next_)) {
      divergence_ = Divergence{next_.t, statistics_.steps + 1, next_.q, next_.v};
      scene_.evaluate(state_);
      return false;
    }
    scene_.commit(next_, info_.transitions.resolved ? &info_.p_end : nullptr);
    std::swap(state_, next_);

    const NewtonInfo& newton = info_.newton;
    statistics_.steps += 1;
    statistics_.iterations += newton.iterations;
    statistics_.max_iterations = std::max(statistics_.max_iterations, newton.iterations);
    statistics_.not_converged += newton.converged ? 0 : 1;
    statistics_.resolved += info_.transitions.resolved ? 1 : 0;
    statistics_.limited += info_.transitions.limited ? 1 : 0;
  }
  return true;
}

ContactDynamics Simulator::contact_dynamics(const Input& input) {
  ContactDynamics system;
  system.update(scene_.dynamics, scene_.contacts, state_, input, {});
  return system;
}

Eigen::MatrixXd Simulator::predict_forces(const Eigen::VectorXd& times, const Input& input) {
  const ContactSet& contacts = scene_.contacts;
  Eigen::MatrixXd lam = Eigen::MatrixXd::Zero(times.size(), 3 * static_cast<Eigen::Index>(contacts.size()));
  if (contacts.active().empty()) return lam;
  const ContactDynamics system = contact_dynamics(input);
  Eigen::MatrixXd A, b_x0;
  system.full_system(A, b_x0);
  const Eigen::Index m = A.rows() / 2;
  IntegralKernel kernel{KernelOptions{}};
  for (Eigen::Index row = 0; row < times.size(); ++row) {
    kernel.compute(A, b_x0, times(row));
    const Eigen::VectorXd x = b_x0.col(1) + A * kernel.x_int() + times(row) * b_x0.col(0);
    for (std::size_t k = 0; k < system.points().size(); ++k) {
      const ContactDynamics::Point& point = system.points()[k];
      const auto first = 3 * static_cast<Eigen::Index>(k);
      lam.row(row).segment<3>(3 * static_cast<Eigen::Index>(point.contact)) =
          -point.K * x.segment<3>(first) - point.B * x.segment<3>(m + first);
    }
  }
  return lam;
}

}  // namespace exposim
