#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/commands.hpp"
#include "exposim/stiff/joint_laws.hpp"
#include "exposim/stiff/memory.hpp"

namespace exposim {

/// All that the future depends on, nothing else. World::pack makes one array of it.
struct State {
  double t = 0.0;  ///< [s]
  Eigen::VectorXd q, v;
  std::vector<Memory> memory;  ///< of every contact, then of strands of bonds and limits (which follow from q and v)
  std::vector<Grip> grips;     ///< of every degree of freedom with dry friction
  Commands commands;
};

}  // namespace exposim
