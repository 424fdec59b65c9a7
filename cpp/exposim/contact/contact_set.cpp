#include "exposim/contact/contact_set.hpp"

#include <Eigen/Geometry>
#include <utility>

namespace exposim {

using Eigen::Vector3d;

ContactSet::ContactSet(std::vector<ContactPair> pairs)
    : pairs_(std::move(pairs)), motions_(pairs_.size()), forces_(pairs_.size(), Vector3d::Zero()) {
  active_.reserve(pairs_.size());
}

void ContactSet::evaluate(const Dynamics& dynamics, const State& state) {
  update_motions(dynamics);
  update_forces(state);
}

void ContactSet::commit(const Dynamics& dynamics, State& state) {
  update_motions(dynamics);
  for (std::size_t i = 0; i < size(); ++i) pairs_[i].law.commit(motions_[i], state.contacts[i]);
  update_forces(state);
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
    const Vector3d arm = pair.surface ? Vector3d(-radius * motion.n) : Vector3d::Zero();
    motion.p = centre.position + arm;
    motion.dp = centre.velocity + centre.omega.cross(arm);
  }
}

void ContactSet::update_forces(const State& state) {
  active_.clear();
  for (std::size_t i = 0; i < size(); ++i) {
    if (state.contacts[i].active) active_.push_back(i);
    forces_[i] = pairs_[i].law.force(motions_[i], state.contacts[i]);
  }
}

}  // namespace exposim
