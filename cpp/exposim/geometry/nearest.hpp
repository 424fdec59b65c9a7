#pragma once

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// Closer than this [m] to where a gradient is not defined (a centre, an axis, a sharp edge), some unit normal is given
/// and no curvature, which has no bound there.
constexpr double kIndistinct = 1e-9;

/// Distance from a point, a line or a plane along axes of coordinates.
///
/// @param d leads from its nearest point. @param across 1 for axes that cross it, 0 for those along it, where d is 0.
/// @param otherwise the normal where there is no distance.
inline Touch distance_from(const Eigen::Vector3d& d, const Eigen::Vector3d& across, const Eigen::Vector3d& otherwise) {
  const double length = d.norm();
  if (length < kIndistinct) return {length, otherwise, Eigen::Matrix3d::Zero()};
  const Eigen::Vector3d n = d / length;
  Touch touch{length, n, -n * (n / length).transpose()};
  touch.curvature.diagonal() += across / length;
  return touch;
}

}  // namespace exposim
