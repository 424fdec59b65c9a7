#pragma once

#include "exposim/expo/strand_tangent.hpp"
#include "exposim/stiff/laws/coulomb_contact.hpp"

namespace exposim {

/// How the phase of a contact (CoulombContact) changes with each direction, its modes held.
///
/// `d` is of the phase before what the law has done; then of the phase after it.
class CoulombTangent {
 public:
  explicit CoulombTangent(const CoulombContact& law) : law_(&law) {}

  /// Whether friction may be held back: then d.compliance is asked for.
  bool may_be_held_back(const Phase& phase) const;
  void begin(const Phase& phase, StrandTangent& d) const;
  /// Whether the law has left all but the force as it was.
  /// @param before the phase before its update().
  bool moves_on(const Phase& before, const Phase& phase, bool due) const;
  /// If it has not.
  void update(const Phase& before, const Phase& phase, StrandTangent& d) const;
  LinearChange linear_change(const Phase& phase, const Eigen::Vector3d& xi, const Eigen::Vector3d& eta) const;
  MarginChange margin_change(const Phase& phase, std::size_t which, const Eigen::Vector3d& delta,
                             const Eigen::Vector3d& dp, const Eigen::Vector3d& lam) const;
  /// Whether the projection leaves a force as it is.
  bool keeps(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const;
  /// Of the projection of a force.
  void project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n, const double* dmu, double* scratch,
               const Rows3& dlam) const;
  /// Of the stretch that is remembered.
  void end(const Phase& phase, StrandTangent& d, const Rows3& s) const;

 private:
  const Material& material() const { return law_->material(); }
  double normal_force(const Phase& phase) const {
    return -material().K_n * phase.n.dot(phase.delta) - material().B_n * phase.n.dot(phase.dp);
  }
  /// Of the force while it slides, and of what it depends on.
  void linearise(const Phase& phase, StrandTangent& d) const;
  /// Of the force as if it stuck, in d.lam.
  void hold(const Phase& phase, StrandTangent& d) const;
  /// Of λ_n before max(0, ·).
  void push(const Phase& phase, const StrandTangent& d, double* out) const;
  /// Of the friction coefficient while it slides, in d.mu.
  void find_friction(const Phase& phase, StrandTangent& d) const;
  /// Of the direction in which it begins to slip, or slips on: the tangential part of a vector.
  void turn_to(const Phase& phase, const Eigen::Vector3d& direction, double sign, const Rows3& of,
               StrandTangent& d) const;
  /// The same by its velocity; one that has slid goes on as it did if that has no direction.
  void aim(const Phase& phase, bool slid, StrandTangent& d) const;
  /// Of the displacement along the normal alone.
  void flatten(const Phase& phase, StrandTangent& d) const;
  /// Of the stretch that holds friction while it slides, μ λ_n/K_t along `slide`; with the depth or without.
  void stretch(const Phase& phase, bool with_depth, StrandTangent& d, const Rows3& out) const;
  void leave_cone(const Phase& before, const Phase& phase, StrandTangent& d) const;

  const CoulombContact* law_;
};

}  // namespace exposim
