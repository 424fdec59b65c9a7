#pragma once

#include "exposim/stiff/law.hpp"
#include "exposim/stiff/material.hpp"

namespace exposim {

/// Spring-damper that pulls as well as pushes and knows no limit: λ = −K Δp − B Δṗ.
class Bilateral final : public Law {
 public:
  explicit Bilateral(const Material& material) : material_(material) {}

  Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const override { return material_.stiffness(n); }
  Eigen::Matrix3d damping(const Eigen::Vector3d& n) const override { return material_.damping(n); }
  const Material* made_of() const override { return &material_; }
  double most_stiffness() const override { return material_.most_stiffness(); }
  double most_damping() const override { return material_.most_damping(); }
  Eigen::Vector3d project(const Eigen::Vector3d& lam, const Eigen::Vector3d&) const override { return lam; }

  void commit(const Motion&, Memory&) const override {}
  Eigen::Vector3d force(const Motion& motion, const Memory& memory) const override;
  void force_derivatives(const Motion& motion, const Memory& carried, Eigen::Matrix3d& dlam_dp,
                         Eigen::Matrix3d& dlam_ddp) const override;

  bool may_change(Mode, const Eigen::Vector3d&, const Eigen::Vector3d&, double) const override { return false; }
  void begin(Phase& phase) const override { linearise(phase); }
  void linearise(Phase& phase) const override;
  Margins margins(const Phase&, const Eigen::Vector3d&, const Eigen::Vector3d&, const Eigen::Vector3d&) const override {
    return {kNoMargin, kNoMargin};
  }
  bool update(Phase& phase, bool due) const override;
  Memory end(const Phase& phase) const override;

 private:
  Material material_;
};

}  // namespace exposim
