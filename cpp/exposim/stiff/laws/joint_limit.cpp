#include "exposim/stiff/laws/joint_limit.hpp"

#include <algorithm>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d JointLimit::project(const Vector3d& lam, const Vector3d& n) const { return std::max(0.0, lam.dot(n)) * n; }

void JointLimit::commit(const Motion& motion, Memory& memory) const {
  memory = Memory{};
  if (motion.phi > 0.0) return;
  memory.mode = push(motion.n, motion.phi * motion.n, motion.dp) > 0.0 ? Mode::kSticking : Mode::kIdle;
}

Vector3d JointLimit::force(const Motion& motion, const Memory& memory) const {
  if (memory.mode != Mode::kSticking) return Vector3d::Zero();
  return std::max(0.0, push(motion.n, motion.phi * motion.n, motion.dp)) * motion.n;
}

void JointLimit::force_derivatives(const Motion& motion, const Memory&, Matrix3d& dlam_dp, Matrix3d& dlam_ddp) const {
  const bool pushes = motion.phi <= 0.0 && push(motion.n, motion.phi * motion.n, motion.dp) > 0.0;
  dlam_dp = along_coordinate(pushes ? -K_ : 0.0);
  dlam_ddp = along_coordinate(pushes ? -B_ : 0.0);
}

bool JointLimit::may_change(Mode mode, const Vector3d& n, const Vector3d& lam_bar, double deviation) const {
  return mode != Mode::kSticking || !(lam_bar.dot(n) > deviation);
}

void JointLimit::begin(Phase& phase) const {
  if (phase.mode == Mode::kIdle && push(phase.n, phase.delta, phase.dp) == 0.0 && phase.n.dot(phase.dp) < 0.0) {
    phase.mode = Mode::kSticking;  // without damping the force is yet to come
  }
  linearise(phase);
}

void JointLimit::linearise(Phase& phase) const {
  const bool pushes = phase.mode == Mode::kSticking;
  phase.K = along_coordinate(pushes ? K_ : 0.0);
  phase.B = along_coordinate(pushes ? B_ : 0.0);
  phase.lam = pushes ? Vector3d(push(phase.n, phase.delta, phase.dp) * phase.n) : Vector3d::Zero();
}

Margins JointLimit::margins(const Phase& phase, const Vector3d& delta, const Vector3d& dp, const Vector3d&) const {
  if (phase.mode == Mode::kSticking) return {push(phase.n, delta, dp), kNoMargin};
  if (phase.mode == Mode::kIdle) return {-push(phase.n, delta, dp), kNoMargin};
  return {kNoMargin, kNoMargin};
}

bool JointLimit::update(Phase& phase, bool due) const {
  const Mode before = phase.mode;
  const double pushed = push(phase.n, phase.delta, phase.dp);
  if (phase.mode == Mode::kSticking) {
    if (pushed <= (due ? thresholds::kNoForceLeft * phase.most[0] : 0.0)) phase.mode = Mode::kIdle;
  } else if (phase.gap() > 0.0 && !(phase.mode == Mode::kOpen && due)) {
    phase.mode = Mode::kOpen;
  } else if (pushed > 0.0 || (due && (phase.mode == Mode::kIdle || phase.n.dot(phase.dp) < 0.0))) {
    phase.mode = Mode::kSticking;
  } else {
    phase.mode = Mode::kIdle;
  }
  linearise(phase);
  return phase.mode != before;
}

}  // namespace exposim
