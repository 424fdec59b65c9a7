#pragma once

#include "exposim/stiff/laws/coulomb_contact.hpp"

namespace exposim {

/// Where the normal spring is at rest when a contact is first noticed, at depth −φ.
enum class AnchorRule {
  kSurface,   ///< φ0 = 0
  kDetected,  ///< φ0 = φ, the paper's choice
};

/// How a force outside the friction cone is brought onto it.
enum class Projection {
  kHorizontal,  ///< keeps the normal force
  kOrthogonal,  ///< nearest point of the cone
};

/// The contact law with the paper's choices, for PaperExpo alone: it says nothing new of what happens within a step.
class PaperContact final : public CoulombContact {
 public:
  PaperContact(const Material& material, AnchorRule anchor_rule, Projection projection)
      : CoulombContact(material), anchor_rule_(anchor_rule), projection_(projection) {}

  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const override;
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override;

 private:
  double rest_gap(double phi) const override { return anchor_rule_ == AnchorRule::kSurface ? 0.0 : phi; }

  AnchorRule anchor_rule_;
  Projection projection_;
};

}  // namespace exposim
