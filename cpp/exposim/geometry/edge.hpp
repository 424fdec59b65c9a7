#pragma once

#include <Eigen/Core>
#include <limits>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A straight edge of a surface, or the axis of a round one. Round shapes touch it where it is closest to them, flat
/// ones at points of a row on it. All are balls of the radius by which the edge is rounded.
struct Edge {
  Eigen::Vector3d start;      ///< in the frame of the body that carries it
  Eigen::Vector3d direction;  ///< unit length
  double spacing;             ///< of its points [m]
  int count;                  ///< how many it has, from the start on; 0: no end on either side
  double radius;              ///< [m]
  int surface;                ///< that it belongs to
  std::size_t joint;          ///< of the body that carries it; 0: the world

  Eigen::Vector3d at(double i) const { return start + i * spacing * direction; }
  bool is_endless() const { return count == 0; }
  double length() const { return (count - 1) * spacing; }
  Ball bounds() const {
    const double half = 0.5 * length();
    return {start + half * direction, is_endless() ? std::numeric_limits<double>::infinity() : half + radius};
  }
};

}  // namespace exposim
