#pragma once

#include <memory>
#include <utility>

#include "exposim/joints/dof_forces.hpp"
#include "exposim/profiler.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

class Path;

/// Memory of a scheme that it need not allocate in every step.
struct Scratch {
  virtual ~Scratch() = default;
};

/// What one thread works in. It never affects a result.
struct Workspace {
  Workspace(const World& world, std::unique_ptr<Scratch> scratch_of_scheme)
      : robot(world.shared_robot()), scratch(std::move(scratch_of_scheme)) {}

  RobotData robot;
  DofForces dof_forces;              ///< of the last acceleration()
  std::unique_ptr<Scratch> scratch;  ///< of the scheme that the workspace was made for
  Profiler profiler;
  bool estimates = false;    ///< whether the errors of steps are estimated
  double error_bound = 0.0;  ///< steps that are seen to be off by more are abandoned
  Path* path = nullptr;      ///< of one who looks at the inside of a step
};

}  // namespace exposim
