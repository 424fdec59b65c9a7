#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/stiff/memory.hpp"

namespace exposim {

/// All that the future depends on, nothing else. World::pack makes one array of it.
struct State {
  double t = 0.0;  ///< [s]
  Eigen::VectorXd q, v;
  std::vector<Memory> memory;  ///< of every contact, then of every strand of a bond (which follows from q)
};

}  // namespace exposim
