#pragma once

#include <Eigen/Core>

namespace exposim {

/// Coordinates that strands share: the relative motion of two bodies, J = J_a − J_b, or a joint coordinate.
struct Block {
  std::size_t a, b;        ///< joints of the bodies, 0 the world; of a coordinate, `b` is where it stands in v
  Eigen::Index first;      ///< row of its coordinates
  Eigen::Index size;       ///< 1: a joint coordinate; 3: one point; 6: linear and angular
  Eigen::Vector3d origin;  ///< where its six coordinates are taken: the mean of its points
};

}  // namespace exposim
