#include "exposim/stiff/laws/paper_contact.hpp"

namespace exposim {

using Eigen::Vector3d;

Vector3d PaperContact::project(const Vector3d& lam, const Vector3d& n) const {
  const double mu = material_.mu, lam_n = lam.dot(n);
  const Vector3d lam_t = lam - lam_n * n;
  const double norm_t = lam_t.norm();
  const bool inside = lam_n >= 0.0 && norm_t <= mu * lam_n;
  if (projection_ == Projection::kHorizontal || inside) return CoulombContact::project(lam, n);
  if (lam_n <= -mu * norm_t) return Vector3d::Zero();  // in the polar cone
  const double on_cone = (lam_n + mu * norm_t) / (1.0 + mu * mu);
  return on_cone * n + mu * on_cone / norm_t * lam_t;
}

Vector3d PaperContact::force(const Motion& motion, const Memory& memory) const {
  const Vector3d lam = CoulombContact::force(motion, memory);
  if (projection_ == Projection::kHorizontal || memory.mode != Mode::kSlipping || material_.mu == 0.0) return lam;
  // The stretch holds the projected tangential force; the normal force that belongs to it is on the cone.
  const Vector3d lam_t = tangent(lam, motion.n);
  return lam_t + lam_t.norm() / material_.mu * motion.n;
}

}  // namespace exposim
