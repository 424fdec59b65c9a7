#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/event.hpp"
#include "exposim/grazing.hpp"
#include "exposim/step_tangent.hpp"
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
  Directions by;
  RowMatrixXd all;
  std::vector<Event> events;  ///< of the step; their times are those of the states
  std::vector<Grazing> grazing;
  bool differences = false;  ///< whether they were taken by finite differences

  /// By displacements of the state (World::plus).
  auto x() { return all.leftCols(by.forces); }
  auto x() const { return all.leftCols(by.forces); }
  /// By forces along the degrees of freedom, (·, nv or none).
  auto force() { return all.middleCols(by.forces, by.wrenches - by.forces); }
  auto force() const { return all.middleCols(by.forces, by.wrenches - by.forces); }
  /// By force and torque of every wrench, (·, 6 each).
  auto wrench() { return all.middleCols(by.wrenches, by.parameters - by.wrenches); }
  auto wrench() const { return all.middleCols(by.wrenches, by.parameters - by.wrenches); }
  /// One column to each.
  auto parameters() { return all.middleCols(by.parameters, by.count); }
  auto parameters() const { return all.middleCols(by.parameters, by.count); }
};

}  // namespace exposim
