#pragma once

#include <Eigen/Core>

#include "exposim/robot/input.hpp"
#include "exposim/state.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Keeps the targets of an input, given now, until all motors have had them; forgets those that are over.
void remember_targets(const World& world, const Input& input, State& state);

/// The targets that motors follow during a step of dt: those given a delay ago, on average over the step; before any
/// were given, rest. A joint in which q is not linear follows what it has in the middle of the step.
void targets_in_force(const World& world, const State& state, double dt, Eigen::VectorXd& target,
                      Eigen::VectorXd& velocity);

}  // namespace exposim
