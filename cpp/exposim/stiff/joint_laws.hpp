#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "exposim/stiff/law.hpp"

namespace exposim {

/// A motor on a degree of freedom: a servo around its target, within what it can give.
///
///   τ = clip(τ_ff + kp (target ⊖ q) + kd (target velocity − v), −cap(−v), cap(v)),
///   cap(v) = effort · clip(1 − v/velocity, 0, 1)
struct Motor {
  double kp = 0.0, kd = 0.0;                                  ///< [N·m/rad], [N·m·s/rad]
  double effort = std::numeric_limits<double>::infinity();    ///< largest torque [N·m]
  double velocity = std::numeric_limits<double>::infinity();  ///< at which it has none left [rad/s]
  double delay = 0.0;                                         ///< after which a target takes effect [s]

  bool is_servo() const { return kp > 0.0 || kd > 0.0; }
  double cap(double v) const {
    return velocity < std::numeric_limits<double>::infinity() ? effort * std::clamp(1.0 - v / velocity, 0.0, 1.0)
                                                              : effort;
  }
  /// By which the torque falls with velocity, where that bounds it [N·m·s/rad].
  double slope() const { return std::isfinite(velocity) && std::isfinite(effort) ? effort / velocity : 0.0; }
  double clip(double torque, double v) const { return std::clamp(torque, -cap(-v), cap(v)); }
};

/// What dry friction remembers.
struct Grip {
  double s = 0.0;         ///< stretch [rad or m]
  bool slipping = false;  ///< its spring holds the sliding friction
};

/// Dry friction of a degree of freedom, by a spring-damper that gives way.
///
///   sticking  τ = −K s − B v, ṡ = v       until |τ| exceeds the static friction
///   slipping  τ = −τ_d sign v, s along    until v changes its sign
struct DryFriction {
  double still = 0.0, moving = 0.0;  ///< largest torque at rest, and that of sliding [N·m]
  double stiffness = 0.0, damping = 0.0;

  bool exists() const { return still > 0.0; }
  double cap(const Grip& grip) const { return grip.slipping ? moving : still; }
  /// At a new stretch and velocity; not idempotent when slipping.
  void commit(double v, Grip& grip) const {
    const double holding = -stiffness * grip.s - damping * v;
    grip.slipping = std::abs(holding) > cap(grip);
    if (grip.slipping) grip.s = std::copysign(moving, -holding) / stiffness;
  }
  double force(double v, const Grip& grip) const { return -stiffness * grip.s - (grip.slipping ? 0.0 : damping * v); }
};

/// An end of a joint's way.
struct Limit {
  Eigen::Index in_q, in_v;
  double end;   ///< [rad or m]
  double side;  ///< 1: q stays above it; −1: below
  std::shared_ptr<const Law> law;
};

/// What acts along a degree of freedom, beside limits.
struct DofLaw {
  Motor motor;
  DryFriction friction;
  double damping = 0.0;  ///< [N·m·s/rad]

  /// Whether anything depends on how it moves.
  bool reacts() const { return motor.is_servo() || motor.slope() > 0.0 || friction.exists() || damping > 0.0; }
  bool acts() const { return reacts() || std::isfinite(motor.effort); }
};

/// The laws of all joints.
struct JointLaws {
  std::vector<DofLaw> dofs;  ///< one per degree of freedom
  std::vector<Limit> limits;
  Eigen::VectorXd rest;  ///< the target where none is given, (nq)
};

}  // namespace exposim
