#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/event.hpp"
#include "exposim/state.hpp"
#include "exposim/stiff/motion.hpp"

namespace exposim {

/// A committed state, and what follows from it alone. Strands: contacts in the world's order, then bonds.
struct Instant {
  State state;
  std::vector<Motion> motions;      ///< of every strand
  Eigen::VectorXd lam;              ///< forces on the robot [N], three rows to a strand
  std::vector<std::size_t> active;  ///< strands that touch or are bound, ascending: the order in which they are stacked
  std::vector<Hold> holds;          ///< of every strand, as events have told it; it affects nothing else
  double turn_rate = 0.0;           ///< angular speed of the body that turns fastest [rad/s]
  int overflows = 0;                ///< touches that found no free slot of their point, and are left out

  auto force(std::size_t strand) const { return lam.segment<3>(3 * static_cast<Eigen::Index>(strand)); }
  auto force(std::size_t strand) { return lam.segment<3>(3 * static_cast<Eigen::Index>(strand)); }
};

}  // namespace exposim
