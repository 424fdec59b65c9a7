#include "exposim/simulator.hpp"

#include <utility>

namespace exposim {

namespace {

bool is_sane(const State& state) {
  return state.q.allFinite() && state.v.allFinite() && state.v.cwiseAbs().maxCoeff() < Simulator::kMaxVelocity;
}

}  // namespace

Simulator::Simulator(std::shared_ptr<const Robot> robot, std::vector<ContactPair> pairs,
                     std::vector<std::optional<Eigen::Vector3d>> anchors, std::unique_ptr<Integrator> integrator,
                     double dt)
    : dynamics_(std::move(robot)),
      contacts_(std::move(pairs)),
      anchors_(std::move(anchors)),
      integrator_(std::move(integrator)),
      dt_(dt) {}

void Simulator::reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  state_ = State{0.0, q, v, std::vector<ContactState>(contacts_.size())};
  dynamics_.update_kinematics(q, v);
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    if (!contacts_.pair(i).law.bilateral()) continue;
    state_.contacts[i].active = true;
    state_.contacts[i].p0 = anchors_[i].value_or(dynamics_.point_motion(contacts_.pair(i).point).position);
  }
  contacts_.commit(dynamics_, state_);
  next_ = state_;
  const auto rows = static_cast<Eigen::Index>(contacts_.size());
  info_.kernel = {};
  info_.lam_pr.setZero(rows, 3);
  info_.lam_pr2.setZero(rows, 3);
  steps_ = 0;
  divergence_.reset();
}

void Simulator::set_state(const State& state) {
  reset(state.q, state.v);
  state_ = state;
  contacts_.evaluate(dynamics_, state_);
}

bool Simulator::step(const Input& input, int n) {
  for (int i = 0; i < n; ++i) {
    integrator_->advance(dynamics_, contacts_, state_, input, dt_, next_.q, next_.v, info_);
    next_.t = state_.t + dt_;
    ++steps_;
    if (!is_sane(next_)) {
      divergence_ = Divergence{next_.t, steps_, next_.q, next_.v};
      dynamics_.update_kinematics(state_.q, state_.v);
      contacts_.evaluate(dynamics_, state_);
      return false;
    }
    next_.contacts = state_.contacts;
    dynamics_.update_kinematics(next_.q, next_.v);
    contacts_.commit(dynamics_, next_);
    std::swap(state_, next_);
  }
  return true;
}

}  // namespace exposim
