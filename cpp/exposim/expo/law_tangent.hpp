#pragma once

#include <optional>

#include "exposim/expo/coulomb_tangent.hpp"
#include "exposim/expo/strand_tangent.hpp"
#include "exposim/stiff/law.hpp"

namespace exposim {

/// How the phase of a strand changes with each direction by its law, its modes held: that of contacts (CoulombTangent),
/// bonds, limits and drives. The latter are linear while they act, λ = f − K Δp − B Δṗ, and nothing moves their anchor.
class LawTangent {
 public:
  explicit LawTangent(const Law& law);

  /// Whether it is known how the law changes.
  bool known() const { return kind_ != Kind::kUnknown; }
  bool may_be_held_back(const Phase& phase) const { return contact_ && contact_->may_be_held_back(phase); }

  /// Whether its force is −K Δp − B Δṗ, and one that does not change.
  static bool is_linear(const Phase& phase) { return phase.mode != Mode::kSlipping; }
  /// How that force changes with the material.
  Eigen::Matrix<double, 3, kMaterialRows> force_by_material(const Phase& phase) const;

  /// At the start, if it is not linear.
  void begin(const Phase& phase, StrandTangent& d) const { contact_->begin(phase, d); }
  /// Whether the law has left all but the force as it was.
  /// @param before the phase before its update().
  bool moves_on(const Phase& before, const Phase& phase, bool due) const {
    return !contact_ || contact_->moves_on(before, phase, due);
  }
  /// If it has not.
  void update(const Phase& before, const Phase& phase, StrandTangent& d) const { contact_->update(before, phase, d); }
  LinearChange linear_change(const Phase& phase, const Eigen::Vector3d& xi, const Eigen::Vector3d& eta) const;
  MarginChange margin_change(const Phase& phase, std::size_t which, const Eigen::Vector3d& delta,
                             const Eigen::Vector3d& dp, const Eigen::Vector3d& lam) const;
  /// Whether the projection leaves a force as it is.
  bool keeps(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const {
    return contact_ ? contact_->keeps(lam, n) : kind_ != Kind::kLimit || lam.dot(n) > 0.0;
  }
  /// Of the projection of a force. @param dmu of the friction; null: it does not change. @param scratch three rows.
  void project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n, const double* dmu, double* scratch,
               const Rows3& dlam) const;
  /// Of the stretch that is remembered.
  void end(const Phase& phase, StrandTangent& d, const Rows3& s) const;

 private:
  enum class Kind { kUnknown, kContact, kBond, kLimit, kServo };

  Kind kind_ = Kind::kUnknown;
  const Law* law_;
  std::optional<CoulombTangent> contact_;
};

}  // namespace exposim
