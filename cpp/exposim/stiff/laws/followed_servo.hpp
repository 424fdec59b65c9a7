#pragma once

#include "exposim/stiff/law.hpp"

namespace exposim {

/// What acts along a coordinate, linear over a step: λ = f − K x − D v, x counted from the start of the step.
class FollowedServo final : public Law {
 public:
  FollowedServo(double force, double K, double D) : force_(force), K_(K), D_(D) {}

  Eigen::Matrix3d stiffness(const Eigen::Vector3d&) const override { return along_coordinate(K_); }
  Eigen::Matrix3d damping(const Eigen::Vector3d&) const override { return along_coordinate(D_); }
  double most_stiffness() const override { return K_; }
  double most_damping() const override { return D_; }
  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d&) const override { return lam; }

  void commit(const Motion&, Memory&) const override {}
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override { return at(memory.s, motion.dp); }
  void force_derivatives(const Motion& motion, const Memory&, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const override {
    dlam_dp = -stiffness(motion.n);
    dlam_ddp = -damping(motion.n);
  }

  bool may_change(Mode, const Eigen::Vector3d&, const Eigen::Vector3d&, double) const override { return false; }
  void begin(Phase& phase) const override { linearise(phase); }
  void linearise(Phase& phase) const override {
    phase.K = along_coordinate(K_);
    phase.B = along_coordinate(D_);
    phase.lam = at(phase.delta, phase.dp);
  }
  Margins margins(const Phase&, const Eigen::Vector3d&, const Eigen::Vector3d&, const Eigen::Vector3d&) const override {
    return {kNoMargin, kNoMargin};
  }
  bool update(Phase& phase, bool) const override {
    phase.lam = at(phase.delta, phase.dp);
    return false;
  }
  Memory end(const Phase& phase) const override { return {-1, Mode::kBound, 0.0, phase.delta}; }

 private:
  Eigen::Vector3d at(const Eigen::Vector3d& x, const Eigen::Vector3d& v) const {
    return {force_ - K_ * x.x() - D_ * v.x(), 0.0, 0.0};
  }

  double force_, K_, D_;
};

}  // namespace exposim
