#pragma once

#include "exposim/stiff/law.hpp"
#include "exposim/stiff/material.hpp"

namespace exposim {

/// Unilateral contact: a spring-damper on the depth and one on the tangential stretch, with Coulomb friction.
///
///   λ_n = max(0, −K_n (φ − φ0) − B_n φ̇),   λ_t = −K_t s − B_t ṡ,   ‖λ_t‖ ≤ μ λ_n
///
///   open      none                     until φ = 0
///   sticking  as above                 until it leaves the friction cone, or stops to push
///   slipping  λ_n (n − μ ṗ_t/‖ṗ_t‖)    until ṗ_t vanishes, or λ_n does
///     or yielding: along s instead of ṗ_t, without a damper or springing back again and again; until s is shorter
///   idle      none, for φ ≤ 0          until it would push again, or φ > 0
///
/// s gives way when a contact slips, so that the spring alone holds the friction force.
class CoulombContact : public Law {
 public:
  explicit CoulombContact(const Material& material) : material_(material) {}

  Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const override { return material_.stiffness(n); }
  Eigen::Matrix3d damping(const Eigen::Vector3d& n) const override { return material_.damping(n); }
  const Material* made_of() const override { return &material_; }
  double most_stiffness() const override { return material_.most_stiffness(); }
  double most_damping() const override { return material_.most_damping(); }
  /// Keeps the normal force.
  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const override;

  void commit(const Motion& motion, Memory& memory) const override;
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override;
  void force_derivatives(const Motion& motion, const Memory& carried, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const override;

  bool may_change(Mode mode, const Eigen::Vector3d& n, const Eigen::Vector3d& lam_bar, double deviation) const override;
  void begin(Phase& phase) const override;
  void linearise(Phase& phase) const override;
  Margins margins(const Phase& phase, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp,
                  const Eigen::Vector3d& lam) const override;
  Eigen::Vector3d beyond_linear(const Phase& phase, const Eigen::Vector3d& delta,
                                const Eigen::Vector3d& dp) const override;
  bool update(Phase& phase, bool due) const override;
  Memory end(const Phase& phase) const override;

  const Material& material() const { return material_; }
  /// Friction of a sliding contact: the material's, unless that has no solution.
  double mu_of_slip(const Phase& phase) const;

 protected:
  /// φ0 of a contact that is first noticed at a gap.
  virtual double rest_gap(double /*phi*/) const { return 0.0; }

  Material material_;

 private:
  /// Before max(0, ·).
  double normal_force(const Eigen::Vector3d& n, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp) const;
  /// As if sticking: may pull, may leave the cone.
  Eigen::Vector3d holding_force(const Eigen::Vector3d& n, const Eigen::Vector3d& delta,
                                const Eigen::Vector3d& dp) const;
  /// Sticking, slipping or idle of a contact with that holding force.
  Mode mode_of(const Eigen::Vector3d& holding, const Eigen::Vector3d& n) const;
  /// Δp at which the spring alone holds a tangential force; the depth stays.
  Eigen::Vector3d giving_way(const Phase& phase, const Eigen::Vector3d& lam_t) const;
  /// How fast the stretch on the friction cone shrinks without damping, −d/dt (μ λ_n/K_t) [m/s].
  double shrinking(const Phase& phase, const Eigen::Vector3d& dp) const;
  /// Friction force of a sliding contact [N].
  Eigen::Vector3d friction(const Phase& phase) const;
  /// Mode of a contact that begins to push, without stretch.
  /// @param pushes it is known to, whatever rounding says.
  void begin_contact(Phase& phase, bool pushes) const;
  /// Whether the spring of a contact that touches is stretched as far as friction holds.
  bool is_on_cone(const Phase& phase) const;
  /// Begins to slip: against its velocity, and against `direction` if it has none; or yielding, against `direction`.
  void slip(Phase& phase, const Eigen::Vector3d& direction, bool yielding) const;
  // A mode goes on or ends:
  void leave_cone(Phase& phase) const;
  void slide(Phase& phase, bool due) const;
  void yield(Phase& phase, bool due) const;
};

}  // namespace exposim
