#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/event.hpp"
#include "exposim/instant.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/kernels/integrals.hpp"

namespace exposim {

/// What became of contacts that might change within a step.
struct TransitionInfo {
  bool resolved = false;  ///< contacts changed or slipped: the step was followed in contact space
  int micro_steps = 0;    ///< more than none if a change could not be ruled out beforehand
  int events = 0;         ///< instants at which landings, lift-offs, slips and sticks were located
  bool limited = false;   ///< more events than are located in one step: the rest took effect at the next micro-step
};

/// What Newton's method did in an implicit step.
struct NewtonInfo {
  int iterations = 0;
  bool converged = true;
  double residual = 0.0;  ///< ‖g‖ of the iterate kept
};

/// Into how many parts a step was divided, each a step of the scheme.
struct PartsInfo {
  int count = 1;
  int redone = 0;     ///< that turned out to be too long, or other than they were taken for, and were taken again
  double turn = 0.0;  ///< largest angle by which a body turned within a part [rad]
};

/// What a step leads to, and what it found on the way.
struct Step {
  Instant next;
  double error = 0.0;      ///< by which it is off, where the workspace asks for an estimate [m, rad, m/s, rad/s]
  bool abandoned = false;  ///< it was seen to be off by more than the workspace allows; there is nothing but the error
  bool diverged = false;   ///< next.state has q and v that are not finite, or absurd, and nothing else
  /// Stiff forces that moved v and q [N], three rows to a strand: their averages and double averages over the step,
  /// after projection. A scheme that holds the force constant has both the same. A contact that came and went without a
  /// slot of its point has no row.
  Eigen::VectorXd lam, lam2;
  Motors motors;                    ///< on average over the step
  std::vector<ModeChange> changes;  ///< that the scheme followed
  std::vector<Event> events;        ///< in the order of time
  KernelInfo kernel;
  NewtonInfo newton;
  TransitionInfo transitions;
  PartsInfo parts;

  /// Nothing found, no forces.
  void clear(std::size_t strands) {
    error = 0.0;
    abandoned = false;
    diverged = false;
    lam.setZero(3 * static_cast<Eigen::Index>(strands));
    lam2.setZero(lam.size());
    motors.clear(motors.torque.size());
    changes.clear();
    events.clear();
    kernel = {};
    newton = {};
    transitions = {};
    parts = {};
  }
};

}  // namespace exposim
