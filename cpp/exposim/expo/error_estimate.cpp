#include "exposim/expo/error_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/robot/mass_matrix.hpp"
#include "exposim/robot/tree.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

void ErrorEstimate::begin(const World& world, bool asked) {
  asked_ = asked;
  if (!asked) return;
  const Vec3& g = world.robot().tree().gravity;
  gravity_ = std::sqrt(dot(g, g));
  bias_changed_ = 0.0;
}

void ErrorEstimate::note_bias(const RobotData& robot, const StiffSystem& system) {
  if (!asked_) return;
  first_ = system.w();
  solve_Lt_in_place(robot, first_);
}

void ErrorEstimate::compare_bias(const RobotData& robot, const StiffSystem& system) {
  if (!asked_) return;
  last_ = system.w();
  solve_Lt_in_place(robot, last_);
  bias_changed_ = std::max(bias_changed_, (last_ - first_).cwiseAbs().maxCoeff());
}

double ErrorEstimate::by_turn(const StiffSystem& system, double turn, double dt) const {
  return turn * gravity_ * std::min(dt, 1.0 / (dt * system.slowest_square()));
}

double ErrorEstimate::at_least(const StiffSystem& system, double turn_rate, double dt) const {
  return thresholds::kErrorOfBias * dt * bias_changed_ + by_turn(system, dt * turn_rate, dt);
}

double ErrorEstimate::value(const StiffSystem& system, double turn, double mismatch, bool changing, double micro_steps,
                            double fitted, double dt) const {
  const double by_bias = dt * bias_changed_, others = by_turn(system, turn, dt) + thresholds::kErrorOfFitting * fitted;
  if (!changing) {
    return thresholds::kErrorOfBias * by_bias + thresholds::kErrorOfBoth * std::sqrt(by_bias * mismatch) + others;
  }
  return 2.0 * thresholds::kErrorOfBias * by_bias + thresholds::kErrorOfMismatch * mismatch +
         thresholds::kErrorOfMicroSteps * micro_steps + others;
}

}  // namespace exposim
