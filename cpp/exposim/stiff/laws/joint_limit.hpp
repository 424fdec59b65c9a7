#pragma once

#include "exposim/stiff/law.hpp"

namespace exposim {

/// The end of a joint's way: a spring-damper along its coordinate that only pushes back. It has one row, the first.
///
///   λ = max(0, −K φ − B φ̇) for φ ≤ 0
///
///   open      none               until φ = 0
///   sticking  pressed: as above  until it stops to push
///   idle      none, for φ ≤ 0    until it would push again, or φ > 0
class JointLimit final : public Law {
 public:
  JointLimit(double stiffness, double damping) : K_(stiffness), B_(damping) {}

  Eigen::Matrix3d stiffness(const Eigen::Vector3d&) const override { return along_coordinate(K_); }
  Eigen::Matrix3d damping(const Eigen::Vector3d&) const override { return along_coordinate(B_); }
  double most_stiffness() const override { return K_; }
  double most_damping() const override { return B_; }
  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d& n) const override;

  void commit(const Motion& motion, Memory& memory) const override;
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override;
  void force_derivatives(const Motion& motion, const Memory& carried, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const override;

  bool may_change(Mode mode, const Eigen::Vector3d& n, const Eigen::Vector3d& lam_bar, double deviation) const override;
  void begin(Phase& phase) const override;
  void linearise(Phase& phase) const override;
  Margins margins(const Phase& phase, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp,
                  const Eigen::Vector3d& lam) const override;
  bool update(Phase& phase, bool due) const override;
  Memory end(const Phase& phase) const override { return {-1, phase.mode, 0.0, Eigen::Vector3d::Zero()}; }

 private:
  double push(const Eigen::Vector3d& n, const Eigen::Vector3d& delta, const Eigen::Vector3d& dp) const {
    return -K_ * n.dot(delta) - B_ * n.dot(dp);
  }

  double K_, B_;
};

}  // namespace exposim
