#include "exposim/expo/law_tangent.hpp"

#include <typeinfo>

#include "exposim/stiff/laws/bilateral.hpp"
#include "exposim/stiff/laws/followed_servo.hpp"
#include "exposim/stiff/laws/joint_limit.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

LawTangent::LawTangent(const Law& law) : law_(&law) {
  const std::type_info& type = typeid(law);
  if (type == typeid(CoulombContact)) {
    kind_ = Kind::kContact;
    contact_.emplace(static_cast<const CoulombContact&>(law));
  } else if (type == typeid(Bilateral)) {
    kind_ = Kind::kBond;
  } else if (type == typeid(JointLimit)) {
    kind_ = Kind::kLimit;
  } else if (type == typeid(FollowedServo)) {
    kind_ = Kind::kServo;
  }
}

Eigen::Matrix<double, 3, kMaterialRows> LawTangent::force_by_material(const Phase& phase) const {
  Eigen::Matrix<double, 3, kMaterialRows> by = -linear_change(phase, phase.delta, phase.dp).by_material;
  if (kind_ == Kind::kServo) by(0, kRowForce) += 1.0;
  return by;
}

LinearChange LawTangent::linear_change(const Phase& phase, const Vector3d& xi, const Vector3d& eta) const {
  if (contact_) return contact_->linear_change(phase, xi, eta);
  LinearChange change;
  if (kind_ == Kind::kBond) {
    const Vector3d& n = phase.n;
    change.by_material.col(kRowKn) = n.dot(xi) * n;
    change.by_material.col(kRowKt) = tangent(xi, n);
    change.by_material.col(kRowBn) = n.dot(eta) * n;
    change.by_material.col(kRowBt) = tangent(eta, n);
  } else if (kind_ == Kind::kServo || phase.mode == Mode::kSticking) {
    change.by_material(0, kRowKn) = xi.x();
    change.by_material(0, kRowBn) = eta.x();
  }
  return change;
}

MarginChange LawTangent::margin_change(const Phase& phase, std::size_t which, const Vector3d& delta, const Vector3d& dp,
                                       const Vector3d& lam) const {
  if (contact_) return contact_->margin_change(phase, which, delta, dp, lam);
  MarginChange change;  // of a limit: others have no margins
  const double sign = phase.mode == Mode::kIdle ? 1.0 : -1.0;
  change.by_delta = sign * law_->stiffness(phase.n) * phase.n;
  change.by_dp = sign * law_->damping(phase.n) * phase.n;
  change.by_material(kRowKn) = sign * phase.n.dot(delta);
  change.by_material(kRowBn) = sign * phase.n.dot(dp);
  return change;
}

void LawTangent::project(const Vector3d& lam, const Vector3d& n, const double* dmu, double* scratch,
                         const Rows3& dlam) const {
  if (contact_) return contact_->project(lam, n, dmu, scratch, dlam);
  if (keeps(lam, n)) return;
  RowSum none(dlam.stride);
  for (Index i = 0; i < 3; ++i) none.into(dlam[i]);
}

void LawTangent::end(const Phase& phase, StrandTangent& d, const Rows3& s) const {
  if (contact_) return contact_->end(phase, d, s);
  RowSum sum(d.length());
  for (Index i = 0; i < 3; ++i) sum.add(kind_ == Kind::kLimit ? 0.0 : 1.0, d.delta[i]).into(s[i]);
}

}  // namespace exposim
