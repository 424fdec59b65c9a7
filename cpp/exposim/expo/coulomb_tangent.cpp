#include "exposim/expo/coulomb_tangent.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// What is left of a force along the normal in the tangent plane.
constexpr double kRounding = 1e-12;

/// I − nnᵀ − ssᵀ
Matrix3d beside(const Vector3d& n, const Vector3d& s) {
  return Matrix3d::Identity() - n * n.transpose() - s * s.transpose();
}

}  // namespace

bool CoulombTangent::may_be_held_back(const Phase& phase) const {
  const double by_stage = phase.stage * (material().B_n + phase.stage * material().K_n);
  const double across = tangent(phase.compliance, phase.n).norm();
  return material().mu * across > phase.n.dot(phase.compliance) + phase.share / by_stage;
}

void CoulombTangent::push(const Phase& phase, const StrandTangent& d, double* out) const {
  const Vector3d& n = phase.n;
  RowSum sum(d.length());
  sum.add(-material().K_n * n, d.delta).add(-material().B_n * n, d.dp);
  if (d.material) {
    sum.add(-n.dot(phase.delta), d.material_row(kRowKn)).add(-n.dot(phase.dp), d.material_row(kRowBn));
  }
  sum.into(out);
}

void CoulombTangent::hold(const Phase& phase, StrandTangent& d) const {
  const Matrix3d K = material().stiffness(phase.n), B = material().damping(phase.n);
  LinearChange change;
  if (d.material) {
    Phase sticking = phase;
    sticking.mode = Mode::kSticking;
    change = linear_change(sticking, phase.delta, phase.dp);
  }
  RowSum sum(d.length());
  for (Index i = 0; i < 3; ++i) {
    sum.add(-K.row(i), d.delta).add(-B.row(i), d.dp);
    if (d.material) change.add_to(sum, i, -1.0, d);
    sum.into(d.lam[i]);
  }
}

void CoulombTangent::find_friction(const Phase& phase, StrandTangent& d) const {
  const Material& with = material();
  const double mu = law_->mu_of_slip(phase);
  RowSum sum(d.length());
  d.held_back = mu != with.mu;
  d.mu_changes = d.held_back || d.material;
  if (!d.mu_changes) return;
  if (!d.held_back) return sum.add(1.0, d.material_row(kRowMu)).into(d.mu);
  // μ = (n·c + share/b)/(s·c), b = stage (B_n + stage K_n)
  const double across = phase.slide.dot(phase.compliance);
  const double by_stage = phase.stage * (with.B_n + phase.stage * with.K_n);
  sum.add((phase.n - mu * phase.slide) / across, d.compliance).add(-mu / across * phase.compliance, d.slide);
  if (d.material) {
    const double by = -phase.share / (by_stage * by_stage) / across * phase.stage;
    sum.add(by, d.material_row(kRowBn)).add(by * phase.stage, d.material_row(kRowKn));
  }
  sum.into(d.mu);
}

void CoulombTangent::turn_to(const Phase& phase, const Vector3d& direction, double sign, const Rows3& of,
                             StrandTangent& d) const {
  const double norm = tangent(direction, phase.n).norm();
  const Matrix3d by = norm > 0.0 ? Matrix3d(sign / norm * beside(phase.n, phase.slide)) : Matrix3d(Matrix3d::Zero());
  d.no_direction = !(norm > 0.0) && material().mu > 0.0;
  RowSum sum(d.length());
  for (Index i = 0; i < 3; ++i) sum.add(by.row(i), of).into(d.slide[i]);
}

void CoulombTangent::aim(const Phase& phase, bool slid, StrandTangent& d) const {
  const double speed = tangent(phase.dp, phase.n).norm();
  if (!slid || speed > thresholds::kNoSpeed) turn_to(phase, phase.dp, 1.0, d.dp, d);
  d.no_direction = !(speed > thresholds::kSlowest) && material().mu > 0.0;
}

void CoulombTangent::flatten(const Phase& phase, StrandTangent& d) const {
  RowSum sum(d.length());
  sum.add(phase.n, d.delta).into(d.scratch);
  for (Index i = 0; i < 3; ++i) sum.add(phase.n(i), d.scratch).into(d.delta[i]);
}

void CoulombTangent::stretch(const Phase& phase, bool with_depth, StrandTangent& d, const Rows3& out) const {
  const double mu = law_->mu_of_slip(phase), lam_n = std::max(normal_force(phase), 0.0), K_t = material().K_t;
  RowSum sum(d.length());
  push(phase, d, d.scratch2);
  sum.add(phase.n, d.delta).into(d.scratch);
  for (Index i = 0; i < 3; ++i) {
    const double along = phase.slide(i) / K_t;
    if (with_depth) sum.add(phase.n(i), d.scratch);
    if (d.mu_changes) sum.add(along * lam_n, d.mu);
    sum.add(lam_n > 0.0 ? along * mu : 0.0, d.scratch2).add(mu * lam_n / K_t, d.slide[i]);
    if (d.material) sum.add(-along * mu * lam_n / K_t, d.material_row(kRowKt));
    sum.into(out[i]);
  }
}

void CoulombTangent::begin(const Phase& phase, StrandTangent& d) const {
  if (phase.mode == Mode::kSlipping) {
    const Vector3d stretched = tangent(phase.delta, phase.n);
    const bool moves = tangent(phase.dp, phase.n).norm() > thresholds::kNoSpeed;
    if (!stretched.isZero(0.0) && (phase.yielding || !moves)) {
      turn_to(phase, phase.delta, 1.0, d.delta, d);
      d.no_direction |= !phase.yielding;
    } else {
      aim(phase, false, d);
    }
  }
  linearise(phase, d);
}

bool CoulombTangent::moves_on(const Phase& before, const Phase& phase, bool due) const {
  switch (before.mode) {
    case Mode::kBound:
      return true;
    case Mode::kOpen:
    case Mode::kIdle:
      return phase.mode == before.mode;
    case Mode::kSticking: {
      if (phase.mode == Mode::kIdle) return true;
      if (due || phase.mode != Mode::kSticking) return false;
      const Vector3d lam = -material().stiffness(phase.n) * before.delta - material().damping(phase.n) * before.dp;
      const double lam_n = lam.dot(phase.n);
      return lam_n > 0.0 && tangent(lam, phase.n).norm() <= material().mu * lam_n;
    }
    case Mode::kSlipping:
      return phase.mode == Mode::kIdle;
  }
  return false;
}

void CoulombTangent::update(const Phase& before, const Phase& phase, StrandTangent& d) const {
  if (before.mode == Mode::kSticking) {
    leave_cone(before, phase, d);
  } else if (before.mode != Mode::kSlipping) {
    flatten(phase, d);
    if (phase.mode == Mode::kSlipping) aim(phase, false, d);
  } else if (!before.yielding) {
    if (phase.mode == Mode::kSticking) {
      stretch(before, true, d, d.delta);
    } else {
      aim(phase, true, d);
    }
  } else if (phase.mode == Mode::kSlipping) {
    if (phase.yielding) {
      turn_to(phase, before.delta, 1.0, d.delta, d);
      find_friction(phase, d);
      stretch(phase, true, d, d.delta);
    } else {
      aim(phase, true, d);
    }
  }
  linearise(phase, d);
}

void CoulombTangent::leave_cone(const Phase& before, const Phase& phase, StrandTangent& d) const {
  // The anchor gives way so that the spring holds μ λ_n along e, the direction of the force so far.
  const Material& with = material();
  const Vector3d& n = phase.n;
  hold(before, d);
  const Vector3d lam = -with.stiffness(n) * before.delta - with.damping(n) * before.dp, lam_t = tangent(lam, n);
  const double lam_n = lam.dot(n), norm_t = lam_t.norm();
  const Vector3d e = norm_t > 0.0 ? Vector3d(lam_t / norm_t) : Vector3d(Vector3d::Zero());
  const double ratio = norm_t > 0.0 ? with.mu * lam_n / norm_t : 0.0;
  const Matrix3d by_lam = with.mu * e * n.transpose() + ratio * beside(n, e);
  RowSum sum(d.length());
  sum.add(n, d.delta).into(d.scratch);
  for (Index i = 0; i < 3; ++i) {
    sum.add(n(i), d.scratch).add(-by_lam.row(i) / with.K_t, d.lam);
    if (d.material) {
      sum.add(-lam_n * e(i) / with.K_t, d.material_row(kRowMu));
      sum.add(with.mu * lam_n * e(i) / (with.K_t * with.K_t), d.material_row(kRowKt));
    }
    sum.into(d.delta[i]);
  }
  if (phase.mode != Mode::kSlipping) return;
  const bool moves = tangent(phase.dp, n).norm() > thresholds::kNoSpeed;
  if (phase.yielding || (!moves && norm_t > 0.0)) {
    turn_to(phase, lam, -1.0, d.lam, d);
    d.no_direction |= !phase.yielding;
  } else {
    aim(phase, false, d);
  }
}

void CoulombTangent::linearise(const Phase& phase, StrandTangent& d) const {
  if (phase.mode != Mode::kSlipping) return;
  RowSum sum(d.length());
  find_friction(phase, d);
  push(phase, d, d.scratch);
  const Vector3d &n = phase.n, &s = phase.slide;
  const double lam_n = normal_force(phase), mu = law_->mu_of_slip(phase);
  const double drag = phase.yielding ? 0.5 * material().B_t : 0.0;
  const Vector3d direction = n - mu * s, v_t = tangent(phase.dp, n);
  const Matrix3d across = Matrix3d::Identity() - n * n.transpose();
  for (Index i = 0; i < 3; ++i) {
    sum.add(direction(i), d.scratch).add(-lam_n * mu, d.slide[i]);
    if (d.mu_changes) sum.add(-lam_n * s(i), d.mu);
    sum.add(-drag * across.row(i), d.dp);
    if (phase.yielding && d.material) sum.add(-0.5 * v_t(i), d.material_row(kRowBt));
    sum.into(d.lam[i]);
  }
  if (phase.yielding) return;
  const double pushed = std::max(lam_n, 0.0), by_speed = -mu * pushed / (phase.speed * phase.speed);
  sum.add(lam_n > 0.0 ? mu / phase.speed : 0.0, d.scratch);
  if (d.mu_changes) sum.add(pushed / phase.speed, d.mu);
  if (s.dot(phase.dp) > thresholds::kSlowest) sum.add(by_speed * s, d.dp);  // ds is across the velocity
  sum.into(d.turning);
}

LinearChange CoulombTangent::linear_change(const Phase& phase, const Vector3d& xi, const Vector3d& eta) const {
  const Material& with = material();
  const Vector3d &n = phase.n, &s = phase.slide;
  const double xi_n = n.dot(xi), eta_n = n.dot(eta);
  LinearChange change;
  change.slides = phase.mode == Mode::kSlipping;
  if (!change.slides) {
    if (phase.mode == Mode::kOpen || phase.mode == Mode::kIdle) return change;
    change.by_material.col(kRowKn) = xi_n * n;
    change.by_material.col(kRowKt) = xi - xi_n * n;
    change.by_material.col(kRowBn) = eta_n * n;
    change.by_material.col(kRowBt) = eta - eta_n * n;
    return change;
  }
  const double mu = law_->mu_of_slip(phase), along = with.K_n * xi_n + with.B_n * eta_n;
  const Vector3d direction = n - mu * s;
  change.by_mu = -along * s;
  change.by_material.col(kRowKn) = xi_n * direction;
  change.by_material.col(kRowBn) = eta_n * direction;
  // The part that resists turning: `stiff` (I − nnᵀ − ssᵀ) x.
  const double stiff = phase.yielding ? with.K_t : mu * std::max(normal_force(phase), 0.0) / phase.speed;
  const Vector3d& x = phase.yielding ? xi : eta;
  const Vector3d beside_x = x - x.dot(n) * n - x.dot(s) * s;
  change.by_slide = -stiff * s * x.transpose();
  change.by_slide.diagonal().array() -= along * mu + stiff * x.dot(s);
  if (phase.yielding) {
    change.by_material.col(kRowKt) = beside_x;
    change.by_material.col(kRowBt) = 0.5 * (eta - eta_n * n);
  } else {
    change.by_turning = beside_x;
  }
  return change;
}

MarginChange CoulombTangent::margin_change(const Phase& phase, std::size_t which, const Vector3d& delta,
                                           const Vector3d& dp, const Vector3d& lam) const {
  const Material& with = material();
  const Vector3d& n = phase.n;
  MarginChange change;
  if (phase.mode == Mode::kSticking) {
    const Vector3d lam_t = tangent(lam, n);
    const double norm_t = lam_t.norm();
    change.by_lam = with.mu * n;
    if (norm_t > kRounding * lam.norm()) change.by_lam -= lam_t / norm_t;
    change.by_material(kRowMu) = n.dot(lam);
  } else if (which == 0) {
    const double sign = phase.mode == Mode::kIdle ? 1.0 : -1.0;
    change.by_delta = sign * with.K_n * n;
    change.by_dp = sign * with.B_n * n;
    change.by_material(kRowKn) = sign * n.dot(delta);
    change.by_material(kRowBn) = sign * n.dot(dp);
  } else {
    const double sign = with.B_t > 0.0 && phase.yielding ? -1.0 : 1.0;
    change.by_dp = sign * phase.slide;
    change.by_slide = sign * dp;
    if (with.B_t == 0.0) {  // outgrown: ṗ·s + μ (K_n/K_t) n·ṗ
      const double mu = law_->mu_of_slip(phase), share = with.K_n / with.K_t;
      change.by_dp += mu * share * n;
      change.by_mu = share * n.dot(dp);
      change.by_material(kRowKn) = mu / with.K_t * n.dot(dp);
      change.by_material(kRowKt) = -mu * share / with.K_t * n.dot(dp);
    }
  }
  return change;
}

bool CoulombTangent::keeps(const Vector3d& lam, const Vector3d& n) const {
  const double lam_n = lam.dot(n);
  return lam_n > 0.0 && tangent(lam, n).norm() <= material().mu * lam_n;
}

void CoulombTangent::project(const Vector3d& lam, const Vector3d& n, const double* dmu, double* scratch,
                             const Rows3& dlam) const {
  const double mu = material().mu, lam_n = lam.dot(n);
  const Vector3d lam_t = lam - lam_n * n;
  const double norm_t = lam_t.norm();
  if (keeps(lam, n)) return;
  RowSum sum(dlam.stride);
  Matrix3d by = Matrix3d::Zero();
  Vector3d e = Vector3d::Zero();
  if (lam_n > 0.0) {
    e = lam_t / norm_t;
    by = (n + mu * e) * n.transpose() + mu * lam_n / norm_t * beside(n, e);
  }
  const Index stride = dlam.stride;
  for (Index i = 0; i < 3; ++i) {
    sum.add(by.row(i), dlam);
    if (dmu) sum.add(lam_n * e(i), dmu);
    sum.into(scratch + i * stride);
  }
  for (Index i = 0; i < 3; ++i) sum.add(1.0, scratch + i * stride).into(dlam[i]);
}

void CoulombTangent::end(const Phase& phase, StrandTangent& d, const Rows3& s) const {
  if (phase.mode == Mode::kSlipping) return stretch(phase, false, d, s);
  RowSum sum(d.length());
  const Matrix3d across = Matrix3d::Identity() - phase.n * phase.n.transpose();
  for (Index i = 0; i < 3; ++i) {
    if (phase.mode == Mode::kSticking) sum.add(across.row(i), d.delta);
    sum.into(s[i]);
  }
}

}  // namespace exposim
