#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// A target given at a time.
struct Command {
  double t = 0.0;  ///< [s]
  Eigen::VectorXd target, velocity;
};

/// Targets on their way to motors that get them late, oldest first; beyond `count` there is room for more.
struct Commands {
  std::vector<Command> all;
  std::size_t count = 0;
};

}  // namespace exposim
