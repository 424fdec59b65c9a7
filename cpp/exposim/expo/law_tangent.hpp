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

  void begin(const Phase& phase, StrandTangent& d) const;
  /// @param before the phase before the law's update().
  void update(const Phase& before, const Phase& phase, bool due, StrandTangent& d) const;
  LinearChange linear_change(const Phase& phase, const Eigen::Vector3d& xi, const Eigen::Vector3d& eta) const;
  MarginChange margin_change(const Phase& phase, std::size_t which, const Eigen::Vector3d& delta,
                             const Eigen::Vector3d& dp, const Eigen::Vector3d& lam) const;
  /// Of the projection of a force. @param scratch three rows.
  void project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n, const StrandTangent& d, double* scratch,
               const Rows3& dlam) const;
  /// Of the stretch that is remembered.
  void end(const Phase& phase, StrandTangent& d, const Rows3& s) const;

 private:
  enum class Kind { kUnknown, kContact, kBond, kLimit, kServo };

  void linearise(const Phase& phase, StrandTangent& d) const;

  Kind kind_ = Kind::kUnknown;
  const Law* law_;
  std::optional<CoulombTangent> contact_;
};

}  // namespace exposim
