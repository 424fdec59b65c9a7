#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/event.hpp"
#include "exposim/grazing.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// A number that worlds depend on: two of them, in which it is by ± half as much another one.
struct Parameter {
  std::shared_ptr<const World> more, less;
  double between = 0.0;  ///< by how much the number differs in the two
};

/// By what a step is to be differentiated, beside the state.
struct DerivativeRequest {
  std::vector<Parameter> parameters;
  bool forces = true;        ///< by those along the degrees of freedom
  bool wrenches = false;     ///< by those that are given
  bool exact = true;         ///< if not, Υ changes against the mean force alone
  bool differences = false;  ///< by finite differences, whatever is known better
};

/// Derivatives of where a step leads to, in the tangent space there (World::minus): one row to each of its coordinates.
struct StepDerivatives {
  RowMatrixXd x;              ///< by displacements of the state (World::plus)
  RowMatrixXd force;          ///< by forces along the degrees of freedom, (·, nv or none)
  RowMatrixXd wrench;         ///< by force and torque of every wrench, (·, 6 each)
  RowMatrixXd parameters;     ///< one column to each
  std::vector<Event> events;  ///< of the step; their times are those of the states
  std::vector<Grazing> grazing;
  bool differences = false;  ///< whether they were taken by finite differences
};

}  // namespace exposim
