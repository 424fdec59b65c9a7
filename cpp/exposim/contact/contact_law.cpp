#include "exposim/contact/contact_law.hpp"

#include <Eigen/Geometry>

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Vector3d tangent(const Vector3d& a, const Vector3d& n) { return a - a.dot(n) * n; }
Vector3d normal(const Vector3d& a, const Vector3d& n) { return a.dot(n) * n; }

Matrix3d axisymmetric(double along, double across, const Vector3d& n) {
  return across * Matrix3d::Identity() + (along - across) * n * n.transpose();
}

}  // namespace

Matrix3d ContactLaw::stiffness(const Vector3d& n) const { return axisymmetric(material_.K_n, material_.K_t, n); }
Matrix3d ContactLaw::damping(const Vector3d& n) const { return axisymmetric(material_.B_n, material_.B_t, n); }

Vector3d ContactLaw::spring_damper(const ContactMotion& motion, const Vector3d& p0, const Vector3d& dp0) const {
  const Vector3d delta_p = motion.p - p0, delta_dp = motion.dp - dp0;
  return -material_.K_t * delta_p - material_.B_t * delta_dp -
         ((material_.K_n - material_.K_t) * motion.n.dot(delta_p) +
          (material_.B_n - material_.B_t) * motion.n.dot(delta_dp)) *
             motion.n;
}

void ContactLaw::commit(const ContactMotion& motion, ContactState& state) const { commit(motion, state, anchor_rule_); }

void ContactLaw::commit_within_step(const ContactMotion& motion, ContactState& state) const {
  commit(motion, state, AnchorRule::kSurface);
}

void ContactLaw::commit(const ContactMotion& motion, ContactState& state, AnchorRule anchor_rule) const {
  if (bilateral_) return;
  if (motion.phi > 0.0) {
    state = ContactState{};
    return;
  }
  if (!state.active) {
    state.active = true;
    state.p0 = anchor_rule == AnchorRule::kSurface ? motion.p - motion.phi * motion.n : motion.p;
  }

  const Vector3d trial = spring_damper(motion, state.p0, Vector3d::Zero());  // as if sticking
  const double trial_n = trial.dot(motion.n);
  state.slipping = trial_n <= 0.0 || tangent(trial, motion.n).norm() > material_.mu * trial_n;
  if (!state.slipping) {
    state.dp0.setZero();
    return;
  }
  Vector3d p0_t = tangent(motion.p, motion.n);
  if (trial_n > 0.0) p0_t += tangent(project_to_cone(trial, motion.n), motion.n) / material_.K_t;
  state.p0 = p0_t + normal(state.p0, motion.n);
  state.dp0 = tangent(motion.dp, motion.n);
}

Vector3d ContactLaw::force(const ContactMotion& motion, const ContactState& state) const {
  if (!state.active) return Vector3d::Zero();
  const Vector3d lam = spring_damper(motion, state.p0, state.dp0);
  if (bilateral_) return lam;
  if (lam.dot(motion.n) <= 0.0) return Vector3d::Zero();
  if (state.slipping && projection_ == Projection::kOrthogonal && material_.mu > 0.0) {
    // The anchor holds the projected tangential force; the normal force that belongs to it is on the cone.
    const Vector3d lam_t = tangent(lam, motion.n);
    return lam_t + lam_t.norm() / material_.mu * motion.n;
  }
  return lam;
}

void ContactLaw::force_derivatives(const ContactMotion& motion, const ContactState& start, Matrix3d& dlam_dp,
                                   Matrix3d& dlam_ddp) const {
  const Vector3d& n = motion.n;
  const double mu = material_.mu;
  // Of the trial force; a new anchor follows the point in the tangent plane.
  dlam_dp = start.active ? Matrix3d(-stiffness(n)) : Matrix3d(-material_.K_n * n * n.transpose());
  dlam_ddp = -damping(n);
  if (bilateral_) return;

  const Vector3d p0 = start.active ? start.p0 : Vector3d(motion.p - motion.phi * n);
  const Vector3d trial = spring_damper(motion, p0, Vector3d::Zero());
  const double trial_n = trial.dot(n);
  const Vector3d trial_t = tangent(trial, n);
  const double norm_t = trial_t.norm();
  if (motion.phi > 0.0 || trial_n <= 0.0) {
    dlam_dp.setZero();
    dlam_ddp.setZero();
  } else if (norm_t > mu * trial_n) {
    // λ = λ_n (n + μ t̂): λ_n from the trial force, t̂ its tangential direction.
    const Vector3d direction = trial_t / norm_t;
    Eigen::RowVector3d dlam_n = n.transpose();
    double lam_n = trial_n;
    if (projection_ == Projection::kOrthogonal) {
      dlam_n = (n + mu * direction).transpose() / (1.0 + mu * mu);
      lam_n = (trial_n + mu * norm_t) / (1.0 + mu * mu);
    }
    const Matrix3d turning = Matrix3d::Identity() - n * n.transpose() - direction * direction.transpose();
    const Matrix3d dlam_dtrial = (n + mu * direction) * dlam_n + mu * lam_n / norm_t * turning;
    dlam_dp = dlam_dtrial * dlam_dp;
    dlam_ddp = dlam_dtrial * dlam_ddp;
  }
}

Vector3d ContactLaw::project_to_cone(const Vector3d& lam, const Vector3d& n) const {
  if (bilateral_) return lam;
  const double mu = material_.mu;
  const double lam_n = lam.dot(n);
  const Vector3d lam_t = lam - lam_n * n;
  const double norm_t = lam_t.norm();

  if (lam_n >= 0.0 && norm_t <= mu * lam_n) return lam;
  if (projection_ == Projection::kHorizontal) {
    if (lam_n <= 0.0) return Vector3d::Zero();
    return lam_n * n + mu * lam_n / norm_t * lam_t;
  }
  if (lam_n <= -mu * norm_t) return Vector3d::Zero();  // in the polar cone
  const double on_cone = (lam_n + mu * norm_t) / (1.0 + mu * mu);
  return on_cone * n + mu * on_cone / norm_t * lam_t;
}

}  // namespace exposim
