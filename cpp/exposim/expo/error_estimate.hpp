#pragma once

#include <Eigen/Core>

#include "exposim/expo/system.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// What a step is off by, estimated from what it computes anyway [m, rad, m/s, rad/s].
///
///   by the bias        dt Δa: how far accelerations without stiff forces change, taken at the velocity of the start
///   and
///                      at the mean one of the step
///   by the mismatch    Δṗ between robot and contact space at the end, where J and n have turned
///   by micro-steps     what these say of themselves
///   by the joints      what fitting does to velocities, each joint for itself
///   by the turn        g θ min(dt, 1/(dt ω²)): as bodies turn by θ so do their weights, which is not seen in the bias;
///                      what is held by springs of K/m = ω² follows them, all the less the stiffer these are
///
/// The weights of these are measured (docs/decisions/24): within a factor of ten of the error, mostly of three.
class ErrorEstimate {
 public:
  /// @param asked whether anybody wants to know; otherwise nothing is done.
  void begin(const World& world, bool asked);
  /// Accelerations without stiff forces by the terms as they are, first and last.
  void note_bias(const RobotData& robot, const StiffSystem& system);
  void compare_bias(const RobotData& robot, const StiffSystem& system);

  /// What is known before strands are followed or averaged.
  double at_least(const StiffSystem& system, double turn_rate, double dt) const;
  /// @param changing whether strands were followed through changes.
  /// @param fitted by JointTerms [rad/s, m/s].
  double value(const StiffSystem& system, double turn, double mismatch, bool changing, double micro_steps,
               double fitted, double dt) const;

 private:
  double by_turn(const StiffSystem& system, double turn, double dt) const;

  bool asked_ = false;
  double gravity_ = 0.0;       // [m/s²]
  double bias_changed_ = 0.0;  // [m/s², rad/s²]
  Eigen::VectorXd first_, last_;
};

}  // namespace exposim
