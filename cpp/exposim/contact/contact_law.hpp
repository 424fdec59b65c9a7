#pragma once

#include <Eigen/Core>

#include "exposim/contact/contact_state.hpp"
#include "exposim/contact/material.hpp"

namespace exposim {

/// Where the anchor is set when a contact is first noticed, at depth −φ.
enum class AnchorRule {
  kSurface,   ///< p0 = p − φ n
  kDetected,  ///< p0 = p, the paper's choice
};

/// How a force outside the friction cone is brought onto it.
enum class Projection {
  kHorizontal,  ///< keeps the normal force
  kOrthogonal,  ///< nearest point of the cone
};

/// One contact at one instant, world frame.
struct ContactMotion {
  double phi;           ///< signed distance to the surface [m]
  Eigen::Vector3d n;    ///< unit normal
  Eigen::Vector3d p;    ///< contact point [m]
  Eigen::Vector3d dp;   ///< velocity of the body at the contact point [m/s]
  Eigen::Vector3d arm;  ///< from the centre of a spherical foot to p [m]
};

/// Linear spring-damper to an anchor, with Coulomb friction.
///
///   λ = −K (p − p0) − B (ṗ − ṗ0),   kept in K_μ = {λ : λ_n ≥ 0, ‖λ_t‖ ≤ μ λ_n}
///
/// A *bilateral* contact is always active, pulls as well as pushes, and knows no friction limit.
class ContactLaw {
 public:
  ContactLaw(const Material& material, bool bilateral, AnchorRule anchor_rule, Projection projection)
      : material_(material), bilateral_(bilateral), anchor_rule_(anchor_rule), projection_(projection) {}

  bool bilateral() const { return bilateral_; }
  const Material& material() const { return material_; }

  /// K and B in world axes: tangential part isotropic, normal part along n.
  Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const;
  Eigen::Matrix3d damping(const Eigen::Vector3d& n) const;

  /// Detects the contact, decides between sticking and slipping and moves the anchor.
  /// Not idempotent when slipping: once per state, no more.
  void commit(const ContactMotion& motion, ContactState& state) const;

  /// The same for a (q, v) within a step, from the contact state at its start, not to be kept: a point that touches
  /// there is anchored on the surface, whatever the rule.
  void commit_within_step(const ContactMotion& motion, ContactState& state) const;

  /// Force on the robot that a committed state stands for.
  Eigen::Vector3d force(const ContactMotion& motion, const ContactState& state) const;

  /// ∂λ/∂p and ∂λ/∂ṗ of force() after commit_within_step() from `start`, away from where it switches.
  void force_derivatives(const ContactMotion& motion, const ContactState& start, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const;

  /// proj_K(λ); the identity for a bilateral contact.
  Eigen::Vector3d project_to_cone(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const;

 private:
  void commit(const ContactMotion& motion, ContactState& state, AnchorRule anchor_rule) const;

  /// −K (p − p0) − B (ṗ − ṗ0) before projection: may pull, may leave the cone.
  Eigen::Vector3d spring_damper(const ContactMotion& motion, const Eigen::Vector3d& p0,
                                const Eigen::Vector3d& dp0) const;

  Material material_;
  bool bilateral_;
  AnchorRule anchor_rule_;
  Projection projection_;
};

}  // namespace exposim
