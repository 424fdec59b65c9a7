#pragma once

#include <Eigen/Core>

#include "exposim/instant.hpp"
#include "exposim/robot/derivatives.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// ∂(Jᵀλ)/∂q and ∂(Jᵀλ)/∂v, beyond what changes with forces fixed to the bodies; also for external wrenches.
///
/// Exact for contacts on flat surfaces that stand still; of bonds and all other contacts, what Newton's method needs to
/// converge.
class ForceDerivatives {
 public:
  /// @param now where the step starts. @param at the instant within it at which forces were evaluated last.
  void update(const World& world, const RobotData& data, const Instant& now, const Instant& at, const Input& input);

  const Eigen::MatrixXd& by_q() const { return by_q_; }
  const Eigen::MatrixXd& by_v() const { return by_v_; }

 private:
  void add_contact(const World& world, const RobotData& data, const Instant& now, const Instant& at, std::size_t i);
  /// With a surface that a body carries, after the point's own derivatives.
  void add_carried(const World& world, const RobotData& data, const Instant& at, std::size_t i,
                   const Eigen::Matrix3d& dlam_dp, const Eigen::Matrix3d& dlam_ddp);
  void add_bond(const World& world, const RobotData& data, const Instant& at, std::size_t i);
  void add_limit(const World& world, const Instant& at, std::size_t i);
  void add_wrench(const RobotData& data, const ExternalWrench& wrench);

  Eigen::MatrixXd by_q_, by_v_;
  Eigen::VectorXd servo_errors_;
  PointDerivatives point_, other_;
  Eigen::Matrix3Xd dlam_dq_, dlam_dv_;
};

}  // namespace exposim
