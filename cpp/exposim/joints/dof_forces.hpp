#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/input.hpp"
#include "exposim/state.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// target ⊖ q along every degree of freedom that has a servo; elsewhere zero.
void servo_errors(const World& world, const Eigen::VectorXd& q, const Eigen::VectorXd& target, Eigen::VectorXd& error);

/// What motors give along the degrees of freedom, at an instant or on average.
struct Motors {
  Eigen::VectorXd torque;               ///< [N·m or N]
  std::vector<unsigned char> at_bound;  ///< whether a motor is asked for more than it has

  void clear(Eigen::Index dofs);
  /// Adds a share of others, which last so long.
  void add(double share, const Motors& others);
};

/// What acts along the degrees of freedom at an instant.
struct DofForces {
  Eigen::VectorXd all;    ///< motors, dampers and dry friction
  Motors motors;          ///< of it
  Eigen::VectorXd error;  ///< target ⊖ q
};
void update_dof_forces(const World& world, const State& state, const Input& input, DofForces& forces);

/// Adds what they change by with q and v, each degree of freedom by itself.
/// @param error scratch.
void add_dof_force_derivatives(const World& world, const State& state, const Input& input, Eigen::VectorXd& error,
                               Eigen::MatrixXd& by_q, Eigen::MatrixXd& by_v);

/// Takes the stretches of dry friction along to where a state has come, and applies its law there.
void carry_grips(const World& world, const State& before, State& next);

}  // namespace exposim
