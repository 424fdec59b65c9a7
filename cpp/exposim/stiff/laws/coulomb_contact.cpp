#include "exposim/stiff/laws/coulomb_contact.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "exposim/stiff/laws/plain_threes.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Turns the sliding direction to the velocity, if there is one.
void aim(Phase& phase) {
  const Vec3 velocity = across(phase.dp, phase.n);
  const double speed = std::sqrt(dot(velocity, velocity)), norm = phase.slide.norm();
  if (speed > thresholds::kNoSpeed) {
    phase.slide = (1.0 / speed) * velocity;
  } else {
    phase.slide = norm > 0.0 ? Vector3d(phase.slide / norm) : phase.n.unitOrthogonal();
  }
}

Vector3d along_normal(const Phase& phase) { return phase.n.dot(phase.delta) * phase.n; }

}  // namespace

double CoulombContact::normal_force(const Vector3d& n, const Vector3d& delta, const Vector3d& dp) const {
  return -material_.K_n * dot(n, delta) - material_.B_n * dot(n, dp);
}

Vector3d CoulombContact::holding_force(const Vector3d& n, const Vector3d& delta, const Vector3d& dp) const {
  const auto& [K_n, K_t, B_n, B_t, mu] = material_;
  const Vec3 normal = n, x = delta, v = dp;
  return -K_t * x - B_t * v - ((K_n - K_t) * dot(normal, x) + (B_n - B_t) * dot(normal, v)) * normal;
}

Mode CoulombContact::mode_of(const Vector3d& holding, const Vector3d& n) const {
  const double lam_n = dot(holding, n), most = material_.mu * lam_n;
  const Vec3 lam_t = Vec3(holding) - lam_n * Vec3(n);
  return lam_n <= 0.0 ? Mode::kIdle : dot(lam_t, lam_t) > most * most ? Mode::kSlipping : Mode::kSticking;
}

Vector3d CoulombContact::project(const Vector3d& lam, const Vector3d& n) const {
  const double lam_n = lam.dot(n);
  if (lam_n <= 0.0) return Vector3d::Zero();
  const Vector3d lam_t = lam - lam_n * n;
  const double norm_t = lam_t.norm();
  if (norm_t <= material_.mu * lam_n) return lam;
  return lam_n * n + material_.mu * lam_n / norm_t * lam_t;
}

// At an instant.

void CoulombContact::commit(const Motion& motion, Memory& memory) const {
  if (motion.phi > 0.0) {
    memory = Memory{memory.surface, Mode::kOpen, 0.0, Vector3d::Zero()};
    return;
  }
  if (!memory.active()) {
    memory.phi0 = rest_gap(motion.phi);
    memory.s.setZero();
  }
  const Vector3d holding = holding_force(motion.n, memory.s + (motion.phi - memory.phi0) * motion.n, motion.dp);
  memory.mode = mode_of(holding, motion.n);
  if (memory.mode == Mode::kIdle) memory.s.setZero();
  if (memory.mode == Mode::kSlipping) memory.s = -tangent(project(holding, motion.n), motion.n) / material_.K_t;
}

Vector3d CoulombContact::force(const Motion& motion, const Memory& memory) const {
  if (!memory.active()) return Vector3d::Zero();
  const Vector3d lam = holding_force(motion.n, displacement(motion, memory), displacement_rate(motion, memory));
  return lam.dot(motion.n) > 0.0 ? lam : Vector3d::Zero();
}

void CoulombContact::force_derivatives(const Motion& motion, const Memory& carried, Matrix3d& dlam_dp,
                                       Matrix3d& dlam_ddp) const {
  const Vector3d& n = motion.n;
  const Vector3d holding = holding_force(n, displacement(motion, carried), motion.dp);
  const double lam_n = holding.dot(n);
  if (motion.phi > 0.0 || lam_n <= 0.0) {
    dlam_dp.setZero();
    dlam_ddp.setZero();
    return;
  }
  // A new anchor follows the point in the tangent plane.
  dlam_dp = carried.active() ? Matrix3d(-stiffness(n)) : Matrix3d(-material_.K_n * n * n.transpose());
  dlam_ddp = -damping(n);
  const Vector3d lam_t = tangent(holding, n);
  const double norm_t = lam_t.norm();
  if (norm_t <= material_.mu * lam_n) return;
  // λ = λ_n (n + μ t̂), t̂ the tangential direction of the holding force.
  const Vector3d direction = lam_t / norm_t;
  const Matrix3d turning = Matrix3d::Identity() - n * n.transpose() - direction * direction.transpose();
  const Matrix3d by_holding = (n + material_.mu * direction) * n.transpose() + material_.mu * lam_n / norm_t * turning;
  dlam_dp = by_holding * dlam_dp;
  dlam_ddp = by_holding * dlam_ddp;
}

// Through a step.

bool CoulombContact::may_change(Mode mode, const Vector3d& n, const Vector3d& lam_bar, double deviation) const {
  if (mode != Mode::kSticking) return true;
  // Is the ball around λ̄ in the cone? Then the force pushes throughout, so that the gap stays closed as well.
  const double mu = material_.mu, lam_n = lam_bar.dot(n);
  const double lam_t = (lam_bar - lam_n * n).norm();
  return !(mu * lam_n - lam_t > std::sqrt(1.0 + mu * mu) * deviation);
}

void CoulombContact::begin(Phase& phase) const {
  phase.slide.setZero();
  phase.speed = 0.0;
  const Vector3d stretch = tangent(phase.delta, phase.n);
  const Mode mode = mode_of(holding_force(phase.n, phase.delta, phase.dp), phase.n);
  if (phase.mode == Mode::kIdle || (phase.mode == Mode::kSlipping && mode == Mode::kIdle)) {
    const bool at_rest = normal_force(phase.n, phase.delta, phase.dp) == 0.0;
    phase.mode = Mode::kIdle;
    if (mode != Mode::kIdle) slip(phase, stretch, material_.B_t == 0.0);
    if (at_rest && phase.n.dot(phase.dp) < 0.0) begin_contact(phase, true);
  } else if (phase.mode == Mode::kSlipping) {
    slip(phase, stretch, material_.B_t == 0.0);
    // Springing back, it has a damper that takes it off the cone.
    if (mode == Mode::kSticking && !phase.yielding && material_.mu > 0.0) phase.mode = Mode::kSticking;
  }
  if (material_.B_t == 0.0 && material_.B_n == 0.0 && is_on_cone(phase)) {
    slip(phase, stretch, true);  // or not: rates decide, rounding does not
    if (phase.slide.dot(phase.dp) + shrinking(phase, phase.dp) <= 0.0) phase.mode = Mode::kSticking;
  }
  linearise(phase);
}

bool CoulombContact::is_on_cone(const Phase& phase) const {
  if (phase.mode != Mode::kSticking && phase.mode != Mode::kSlipping) return false;
  const double most = material_.mu * normal_force(phase.n, phase.delta, phase.dp);
  return most > 0.0 && material_.K_t * tangent(phase.delta, phase.n).norm() >= (1.0 - thresholds::kOnCone) * most;
}

void CoulombContact::linearise(Phase& phase) const {
  const Vector3d& n = phase.n;
  switch (phase.mode) {
    case Mode::kSticking:
    case Mode::kBound:
      phase.lam = holding_force(n, phase.delta, phase.dp);
      phase.K = stiffness(n);
      phase.B = damping(n);
      break;
    case Mode::kSlipping: {
      const double lam_n = normal_force(n, phase.delta, phase.dp), mu = mu_of_slip(phase);
      const Vec3 normal = n, slide = phase.slide, direction = normal - mu * slide;
      if (phase.yielding) {
        const double damping = 0.5 * material_.B_t;  // on average of what it loses each time, and regains
        phase.lam = lam_n * direction - damping * across(phase.dp, normal);
        set(material_.K_n * direction, normal, material_.K_t, slide, phase.K);
        set(material_.B_n * direction, normal, damping, Vec3(), phase.B);
      } else {
        phase.lam = lam_n * direction;
        phase.speed = std::max(dot(slide, phase.dp), thresholds::kSlowest);
        set(material_.K_n * direction, normal, phase.K);
        set(material_.B_n * direction, normal, mu * std::max(lam_n, 0.0) / phase.speed, slide, phase.B);
      }
      break;
    }
    case Mode::kOpen:
    case Mode::kIdle:
      phase.lam.setZero();
      phase.K.setZero();
      phase.B.setZero();
      break;
  }
}

Margins CoulombContact::margins(const Phase& phase, const Vector3d& delta, const Vector3d& dp,
                                const Vector3d& lam) const {
  switch (phase.mode) {
    case Mode::kIdle:
      return {-normal_force(phase.n, delta, dp), kNoMargin};
    case Mode::kSticking:
      return {cone_margin(lam, phase.n, material_.mu), kNoMargin};
    case Mode::kSlipping: {
      const double lam_n = normal_force(phase.n, delta, dp), speed = dot(phase.slide, dp);
      if (material_.mu == 0.0) return {lam_n, kNoMargin};
      if (material_.B_t > 0.0) return {lam_n, phase.yielding ? -speed : speed};
      return {lam_n, material_.B_n == 0.0 ? speed + shrinking(phase, dp) : kNoMargin};
    }
    case Mode::kOpen:
    case Mode::kBound:
      break;
  }
  return {kNoMargin, kNoMargin};
}

Vector3d CoulombContact::beyond_linear(const Phase& phase, const Vector3d& delta, const Vector3d& dp) const {
  if (phase.mode != Mode::kSlipping || phase.yielding) return Vector3d::Zero();
  // Friction turns with the velocity, not along the tangent of its turn.
  const Vec3 slide = phase.slide, velocity = across(dp, phase.n);
  const double lam_n = normal_force(phase.n, delta, dp), speed = std::sqrt(dot(velocity, velocity));
  if (lam_n <= 0.0 || speed <= thresholds::kSlowest) return Vector3d::Zero();
  const double mu = mu_of_slip(phase), lam_n_before = std::max(normal_force(phase.n, phase.delta, phase.dp), 0.0);
  return -mu * (lam_n * ((1.0 / speed) * velocity - slide) - lam_n_before / phase.speed * across(velocity, slide));
}

bool CoulombContact::update(Phase& phase, bool due) const {
  const Mode before = phase.mode;
  bool moved = false;  // the anchor, or the direction of the force
  switch (phase.mode) {
    case Mode::kBound:
      break;
    case Mode::kOpen:
      if (!due && phase.gap() > 0.0) break;
      phase.delta = along_normal(phase);
      begin_contact(phase, due && phase.n.dot(phase.dp) < 0.0);  // without damping the force is yet to come
      break;
    case Mode::kIdle:
      if (phase.gap() > 0.0) {
        phase.mode = Mode::kOpen;
        phase.delta = phase.gap() * phase.n;
        phase.phi0 = 0.0;
      } else if (due || normal_force(phase.n, phase.delta, phase.dp) > 0.0) {
        phase.delta = along_normal(phase);
        begin_contact(phase, due);
      }
      break;
    case Mode::kSticking:
      phase.lam = holding_force(phase.n, phase.delta, phase.dp);
      if (!due && mode_of(phase.lam, phase.n) == Mode::kSticking) return false;  // K and B are as they were
      leave_cone(phase);
      moved = true;
      break;
    case Mode::kSlipping: {
      const double no_force = due ? thresholds::kNoForceLeft * phase.most[0] : 0.0;
      if (normal_force(phase.n, phase.delta, phase.dp) <= no_force) {
        phase.mode = Mode::kIdle;
      } else if (phase.yielding) {
        yield(phase, due);
      } else {
        slide(phase, due);
      }
      moved = true;
      break;
    }
  }
  linearise(phase);
  return moved || phase.mode != before;
}

void CoulombContact::begin_contact(Phase& phase, bool pushes) const {
  const Vector3d holding = holding_force(phase.n, phase.delta, phase.dp), velocity = tangent(phase.dp, phase.n);
  phase.mode = mode_of(holding, phase.n);
  Vector3d direction = -tangent(holding, phase.n);
  if (pushes && (phase.mode == Mode::kIdle || material_.B_n == 0.0)) {
    // The force is yet to come, at a rate K ṗ; what a tangential damper has of it is there at once.
    const double outruns = material_.K_t * velocity.norm() + material_.mu * material_.K_n * phase.n.dot(phase.dp);
    const bool slips = material_.B_t > 0.0 ? !velocity.isZero(0.0) : outruns > 0.0;
    phase.mode = slips ? Mode::kSlipping : Mode::kSticking;
    direction = velocity;
  }
  if (phase.mode == Mode::kSticking && material_.mu == 0.0) phase.mode = Mode::kSlipping;
  if (phase.mode == Mode::kSlipping) slip(phase, direction, material_.B_t == 0.0);
}

void CoulombContact::slip(Phase& phase, const Vector3d& direction, bool yielding) const {
  phase.mode = Mode::kSlipping;
  phase.yielding = yielding && material_.mu > 0.0;
  phase.most.fill(0.0);
  phase.slide = direction;
  if (!phase.yielding || direction.isZero(0.0)) aim(phase);
  phase.slide.normalize();
}

void CoulombContact::leave_cone(Phase& phase) const {
  const double lam_n = phase.n.dot(phase.lam);
  if (lam_n <= 0.0) {
    phase.mode = Mode::kIdle;
    return;
  }
  const Vector3d lam_t = tangent(phase.lam, phase.n);
  const Vector3d held = lam_t.isZero(0.0) ? lam_t : Vector3d(material_.mu * lam_n * lam_t.normalized());
  phase.delta = giving_way(phase, held);
  if (material_.mu == 0.0 || material_.B_t == 0.0 || held.dot(phase.dp) < 0.0) {
    slip(phase, -held, material_.B_t == 0.0);
    return;
  }
  // It springs back, and without the damper its spring is within the cone.
  if (mode_of(holding_force(phase.n, phase.delta, phase.dp), phase.n) == Mode::kSlipping) {
    slip(phase, phase.dp, false);
  } else if (++phase.cuts > thresholds::kCutsPerStep) {
    slip(phase, -held, true);
  }
}

void CoulombContact::slide(Phase& phase, bool due) const {
  const double no_speed = due ? std::max(thresholds::kNoSpeedLeft * phase.most[1], thresholds::kSlowest) : 0.0;
  if (material_.mu > 0.0 && dot(phase.slide, phase.dp) <= no_speed) {
    phase.mode = Mode::kSticking;
    phase.delta = giving_way(phase, friction(phase));
  } else {
    aim(phase);
  }
}

void CoulombContact::yield(Phase& phase, bool due) const {
  const Vector3d stretch = tangent(phase.delta, phase.n);
  const double speed = phase.slide.dot(phase.dp);
  const double no_speed = due ? thresholds::kNoSpeedLeft * phase.most[1] : 0.0;
  const bool undamped = material_.B_t == 0.0 && material_.B_n == 0.0;
  const bool outgrown = undamped && due && speed + shrinking(phase, phase.dp) <= no_speed;
  if (material_.B_t > 0.0 && -speed <= no_speed) {
    slip(phase, phase.slide, false);
  } else if (outgrown || material_.K_t * stretch.norm() < (1.0 - thresholds::kOnCone) * friction(phase).norm()) {
    phase.mode = Mode::kSticking;
  } else {
    phase.slide = stretch.normalized();
    phase.delta = giving_way(phase, friction(phase));
  }
}

Vector3d CoulombContact::giving_way(const Phase& phase, const Vector3d& lam_t) const {
  return along_normal(phase) - lam_t / material_.K_t;
}

double CoulombContact::mu_of_slip(const Phase& phase) const {
  const double along = dot(phase.n, phase.compliance), sideways = dot(phase.slide, phase.compliance);
  const double by_stage = phase.stage * (material_.B_n + phase.stage * material_.K_n);  // by a unit of acceleration
  if ((material_.mu * sideways - along) * by_stage <= phase.share) return material_.mu;
  return (along + phase.share / by_stage) / sideways;
}

double CoulombContact::shrinking(const Phase& phase, const Vector3d& dp) const {
  return mu_of_slip(phase) * material_.K_n / material_.K_t * phase.n.dot(dp);
}

Vector3d CoulombContact::friction(const Phase& phase) const {
  return -mu_of_slip(phase) * std::max(normal_force(phase.n, phase.delta, phase.dp), 0.0) * phase.slide;
}

Memory CoulombContact::end(const Phase& phase) const {
  Memory memory;
  memory.mode = phase.mode;
  if (!memory.active()) return memory;
  memory.phi0 = phase.phi0;
  if (phase.mode == Mode::kSticking) memory.s = tangent(phase.delta, phase.n);
  if (phase.mode == Mode::kSlipping) memory.s = -friction(phase) / material_.K_t;
  return memory;
}

}  // namespace exposim
