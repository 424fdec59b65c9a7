#include "exposim/contact/contact_set.hpp"

#include <Eigen/Geometry>
#include <utility>

namespace exposim {

using Eigen::Vector3d;

ContactSet::ContactSet(std::vector<ContactPair> pairs)
    : pairs_(std::move(pairs)), motions_(pairs_.size()), forces_(pairs_.size(), Vector3d::Zero()) {
  within_step_.reserve(pairs_.size());
  active_.reserve(pairs_.size());
}

void ContactSet::evaluate(const Dynamics& dynamics, const State& state) {
  update_motions(dynamics);
  update_forces(state.contacts);
}

void ContactSet::evaluate_within_step(const Dynamics& dynamics, const std::vector<ContactState>& start) {
  update_motions(dynamics);
  within_step_ = start;
  for (std::size_t i = 0; i < size(); ++i) pairs_[i].law.commit_within_step(motions_[i], within_step_[i]);
  update_forces(within_step_);
}

void ContactSet::commit(const Dynamics& dynamics, State& state, const Eigen::MatrixX3d* p_end) {
  update_motions(dynamics);
  for (std::size_t i = 0; i < size(); ++i) {
    ContactState& contact = state.contacts[i];
    if (p_end && contact.slipping) {
      const Vector3d moved = motions_[i].p - p_end->row(static_cast<Eigen::Index>(i)).transpose();
      contact.p0 += moved - motions_[i].n.dot(moved) * motions_[i].n;
    }
    pairs_[i].law.commit(motions_[i], contact);
  }
  update_forces(state.contacts);
}

void ContactSet::update_motions(const Dynamics& dynamics) {
  for (std::size_t i = 0; i < size(); ++i) {
    const ContactPair& pair = pairs_[i];
    const PointMotion centre = dynamics.point_motion(pair.point);
    const double radius = dynamics.robot().points()[pair.point].radius;
    ContactMotion& motion = motions_[i];
    if (pair.surface) {
      motion.phi = pair.surface->signed_distance(centre.position) - radius;
      motion.n = pair.surface->normal(centre.position);
    } else {
      motion.phi = 0.0;
      motion.n = Vector3d::UnitZ();
    }
    motion.arm = pair.surface ? Vector3d(-radius * motion.n) : Vector3d::Zero();
    motion.p = centre.position + motion.arm;
    motion.dp = centre.velocity + centre.omega.cross(motion.arm);
  }
}

void ContactSet::update_forces(const std::vector<ContactState>& contacts) {
  active_.clear();
  for (std::size_t i = 0; i < size(); ++i) {
    if (contacts[i].active) active_.push_back(i);
    forces_[i] = pairs_[i].law.force(motions_[i], contacts[i]);
  }
}

}  // namespace exposim
