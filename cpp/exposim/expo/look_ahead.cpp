#include "exposim/expo/look_ahead.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// As a damper: what friction takes at most from a strand that is pressed with λ_n, over its speed.
double damping_by_friction(const Strand& strand, double lam_n) {
  constexpr double kAnyFriction = 1e3;
  const Vector3d& n = strand.motion.n;
  const Vector3d velocity = tangent(strand.motion.dp, n);
  const double speed = velocity.norm();
  if (lam_n <= 0.0 || speed <= thresholds::kSlowest) return 0.0;
  const Vector3d lam = strand.law->project(lam_n * (n - kAnyFriction / speed * velocity), n);
  return tangent(lam, n).norm() / speed;
}

/// How much of dt is left when an open strand closes, by an acceleration along its normal; nothing if it does not.
double left_when_closed(const Motion& motion, double a, double dt) {
  const double phi = motion.phi, dphi = motion.n.dot(motion.dp);
  if (phi <= 0.0) return dt;  // it touches, and has no slot
  if (lowest_gap(phi, dphi, a, dt) > 0.0) return 0.0;
  return std::max(0.0, dt - 2.0 * phi / (std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)) - dphi));
}

}  // namespace

bool LookAhead::look(const RobotData& data, const StiffSystem& system, const StrandList& strands, double dt,
                     Eigen::VectorXd& a) {
  const std::size_t count = strands.all().size();
  a = system.w();
  glances_.resize(count);
  bool keep = true;
  if (count > 0) {
    for (std::size_t k = 0; k < count; ++k) begin(strands.all()[k], dt, glances_[k]);
    blocks_.begin(system, system.blocks().size());
    take_stage(system, strands, dt);
    if (remembers_) first_ = glances_;
    bool again = false;
    for (std::size_t k = 0; k < count; ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      again |= reconsider(row, strands.all()[k], blocks_.acceleration_of(row), dt, glances_[k]);
      keep &= glances_[k].keeps_mode;
    }
    took_two_ = again;
    if (again) take_stage(system, strands, dt);
    wrench_.setZero(system.Upsilon_block().rows());
    for (std::size_t k = 0; k < count; ++k) system.add_wrench(system.rows()[k], glances_[k].lam, wrench_);
    system.add_forces(system.blocks().size(), wrench_, a);
  }
  solve_Lt_in_place(data, a);
  return keep;
}

void LookAhead::begin(const Strand& strand, double dt, Glance& glance) {
  glance.does = Does::kNothing;
  glance.eta = 0.0;
  switch (strand.memory.mode) {
    case Mode::kBound:
    case Mode::kSticking:
      glance.does = Does::kHold;
      break;
    case Mode::kSlipping:
      glance.does = Does::kSlide;
      glance.eta = damping_by_friction(strand, strand.motion.n.dot(strand.law->force(strand.motion, strand.memory)));
      break;
    case Mode::kIdle:
      break;
    case Mode::kOpen:
      glance.left = left_when_closed(strand.motion, 0.0, dt);
      if (glance.left > 0.0) glance.does = Does::kClose;
      break;
  }
}

void LookAhead::linearise(const StiffSystem& system, const StiffSystem::Row& row, const Strand& strand, double dt,
                          Glance& glance) {
  const double h = 0.5 * dt;
  if (glance.does == Does::kHold) {
    glance.Q = h * (row.B + h * row.K);
    glance.f = system.force_ahead(row, h);
    return;
  }
  const Vector3d& n = strand.motion.n;
  double q = 0.0, f = 0.0;  // along n
  if (glance.does == Does::kClose) {
    const double rest = 0.5 * glance.left, share = glance.left / dt;
    const double K = n.dot(row.K * n), B = n.dot(row.B * n);
    q = rest * (B + rest * K);
    f = -share * share * ((B + rest * K) * n.dot(strand.motion.dp) + q * n.dot(row.ddp_bar));
  } else {
    q = h * n.dot((row.B + h * row.K) * n);
    f = n.dot(system.force_ahead(row, h));
  }
  const double eta = glance.does == Does::kDrag ? 0.0 : glance.eta;
  glance.Q = h * eta * Matrix3d::Identity() + (q - h * eta) * n * n.transpose();
  glance.f = f * n - eta * tangent(strand.motion.dp + h * row.ddp_bar, n);
  if (glance.does == Does::kDrag) glance.f += glance.drag;
}

void LookAhead::take_stage(const StiffSystem& system, const StrandList& strands, double dt) {
  blocks_.detach();
  blocks_.clear_forces();
  for (std::size_t k = 0; k < glances_.size(); ++k) {
    Glance& glance = glances_[k];
    if (glance.does == Does::kNothing) continue;
    const StiffSystem::Row& row = system.rows()[k];
    linearise(system, row, strands.all()[k], dt, glance);
    blocks_.add_spring(row, glance.Q);
    blocks_.add_force(row, glance.f);
  }
  blocks_.attach();
  blocks_.solve();
  for (std::size_t k = 0; k < glances_.size(); ++k) {
    Glance& glance = glances_[k];
    if (glance.does == Does::kNothing) {
      glance.lam.setZero();
    } else {
      glance.lam = glance.f - glance.Q * blocks_.acceleration_of(system.rows()[k]);
    }
  }
}

bool LookAhead::reconsider(const StiffSystem::Row& row, const Strand& strand, const Vector3d& pushed, double dt,
                           Glance& glance) {
  const Vector3d& n = strand.motion.n;
  const Mode mode = strand.memory.mode;
  const Does did = glance.does;
  glance.keeps_mode = mode == Mode::kOpen ? did == Does::kNothing : !strand.law->may_change(mode, n, glance.lam, 0.0);
  if (mode == Mode::kBound) return false;
  if (did == Does::kNothing) {
    if (mode != Mode::kOpen) return false;
    glance.left = left_when_closed(strand.motion, n.dot(row.ddp_bar + pushed), dt);
    if (!(glance.left > 0.0)) return false;
    glance.does = Does::kClose;
    glance.keeps_mode = false;
    return true;
  }
  const double lam_n = n.dot(glance.lam);
  if (lam_n <= 0.0) {
    glance.does = Does::kNothing;
    glance.keeps_mode = mode == Mode::kOpen;
    return true;
  }
  if (did != Does::kHold) {
    glance.eta = damping_by_friction(strand, lam_n);
    return true;
  }
  if (glance.keeps_mode) return false;
  glance.does = Does::kDrag;
  glance.drag = tangent(strand.law->project(glance.lam, n), n);
  return true;
}

void LookAhead::respond(const StiffSystem& system, const std::vector<Vector3d>& ddp_bar) {
  blocks_.clear_forces();
  for (std::size_t k = 0; k < system.active(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    glances_[k].f = -glances_[k].Q * (row.ddp_bar - ddp_bar[k]);
    blocks_.add_force(row, glances_[k].f);
  }
  blocks_.solve();
  for (std::size_t k = 0; k < system.active(); ++k) {
    glances_[k].lam = glances_[k].f - glances_[k].Q * blocks_.acceleration_of(system.rows()[k]);
  }
}

}  // namespace exposim
