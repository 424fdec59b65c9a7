#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "exposim/stiff/law.hpp"

namespace exposim {

/// A cushion of air: pushes like a spring-damper along the normal, knows no friction.
///
///   λ = max(0, −K φ − B φ̇) n
class Cushion final : public Law {
 public:
  /// Units: K [N/m], B [N·s/m].
  Cushion(double K, double B) : K_(K), B_(B) {}

  Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const override { return K_ * n * n.transpose(); }
  Eigen::Matrix3d damping(const Eigen::Vector3d& n) const override { return B_ * n * n.transpose(); }
  double most_stiffness() const override { return K_; }
  double most_damping() const override { return B_; }
  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const override {
    return std::max(0.0, lam.dot(n)) * n;
  }

  void commit(const Motion& motion, Memory& memory) const override {
    const double push = normal_force(motion.phi, motion.n.dot(motion.dp));
    memory.mode = motion.phi > 0.0 ? Mode::kOpen : push > 0.0 ? Mode::kSticking : Mode::kIdle;
    memory.s.setZero();  // nothing holds it sideways
  }
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override {
    if (memory.mode != Mode::kSticking) return Eigen::Vector3d::Zero();
    return std::max(0.0, normal_force(motion.phi, motion.n.dot(motion.dp))) * motion.n;
  }
  void force_derivatives(const Motion& motion, const Memory&, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const override {
    const bool pushes = motion.phi <= 0.0 && normal_force(motion.phi, motion.n.dot(motion.dp)) > 0.0;
    dlam_dp = pushes ? Eigen::Matrix3d(-stiffness(motion.n)) : Eigen::Matrix3d::Zero();
    dlam_ddp = pushes ? Eigen::Matrix3d(-damping(motion.n)) : Eigen::Matrix3d::Zero();
  }

  bool may_change(Mode mode, const Eigen::Vector3d& n, const Eigen::Vector3d& lam_bar,
                  double deviation) const override {
    return mode != Mode::kSticking || !(lam_bar.dot(n) > deviation);
  }
  void begin(Phase& phase) const override { linearise(phase); }
  void linearise(Phase& phase) const override {
    const bool pushes = phase.mode == Mode::kSticking;
    phase.lam = pushes ? Eigen::Vector3d(push(phase, phase.delta, phase.dp) * phase.n) : Eigen::Vector3d::Zero();
    phase.K = pushes ? stiffness(phase.n) : Eigen::Matrix3d::Zero();
    phase.B = pushes ? damping(phase.n) : Eigen::Matrix3d::Zero();
  }
  Margins margins(const Phase& phase, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp,
                  const Eigen::Vector3d&) const override {
    if (phase.mode == Mode::kOpen) return {kNoMargin, kNoMargin};
    return {phase.mode == Mode::kSticking ? push(phase, delta, dp) : -push(phase, delta, dp), kNoMargin};
  }
  bool update(Phase& phase, bool due) const override {
    const Mode before = phase.mode;
    const double pushes = push(phase, phase.delta, phase.dp);
    if (phase.mode == Mode::kSticking) {
      if (due || pushes <= 0.0) phase.mode = Mode::kIdle;
    } else if (due || phase.gap() <= 0.0) {
      phase.mode = pushes > 0.0 || (due && before == Mode::kIdle) ? Mode::kSticking : Mode::kIdle;
    } else {
      phase.mode = Mode::kOpen;
    }
    linearise(phase);
    return phase.mode != before;
  }
  Memory end(const Phase& phase) const override {
    Memory memory;
    memory.mode = phase.mode;
    return memory;
  }

 private:
  double normal_force(double phi, double dphi) const { return -K_ * phi - B_ * dphi; }
  double push(const Phase& phase, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp) const {
    return normal_force(phase.n.dot(delta), phase.n.dot(dp));
  }

  double K_, B_;
};

}  // namespace exposim
