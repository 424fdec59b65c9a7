// Derivatives of a step of Expo by masses.

#include <utility>

#include "exposim/integrators/expo_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

void ExpoTangent::begin_masses() {
  masses_.clear();
  for (std::size_t p = 0; p < out_->parameters.size(); ++p) {
    const auto& [more, less, between] = out_->parameters[p];
    if (&more->robot() == &less->robot()) continue;  // as of materials
    InertiaChanges changes = inertia_changes(more->robot(), less->robot(), between);
    if (!changes.empty()) masses_.push_back({to_.parameters + static_cast<Index>(p), std::move(changes), {}});
  }
}

void ExpoTangent::add_by_masses(const RobotData& data, const VectorXd& a, Tangent& to) const {
  if (masses_.empty()) return;
  BodyAccelerations accelerations;
  accelerations.update(data, movers_mid_, a);
  for (const Mass& mass : masses_) {
    to.col(mass.direction) += force_by_inertia(data, movers_mid_, accelerations, mass.changes);
  }
  add_by_drives(a, to);
}

void ExpoTangent::add_by_masses(const VectorXd& a, Tangent& to) const {
  for (const Mass& mass : masses_) {
    to.col(mass.direction) += momentum_by_inertia(world_->robot(), movers_mid_, a, mass.changes);
  }
  add_by_drives(a, to);
}

void ExpoTangent::add_by_drives(const VectorXd& a, Tangent& to) const {
  if (fits_.all.empty()) return;
  for (std::size_t k = 0; k < masses_.size(); ++k) {
    to.col(masses_[k].direction) += a.cwiseProduct(X_by_q_.col(to_.nv + static_cast<Index>(k)));
  }
}

}  // namespace exposim
