#include "exposim/geometry/box.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/geometry/nearest.hpp"

namespace exposim {

using Eigen::Vector3d;

double Box::distance(const Vector3d& p) const {
  const Vector3d beyond = p.cwiseAbs() - inner_;
  const double inside = std::min(beyond.maxCoeff(), 0.0);
  return inside + beyond.cwiseMax(0.0).norm() - rounding_;
}

Touch Box::query(const Vector3d& p) const {
  const Vector3d beyond = p.cwiseAbs() - inner_;
  int face = 0, sides = 0;  // of how many faces it is outside
  for (int axis = 0; axis < 3; ++axis) {
    if (beyond(axis) > beyond(face)) face = axis;
    sides += beyond(axis) > 0.0;
  }
  Vector3d n = Vector3d::Zero();
  n(face) = std::copysign(1.0, p(face));
  if (sides <= 1) return {beyond(face) - rounding_, n, Eigen::Matrix3d::Zero()};
  Vector3d d, across;
  for (int axis = 0; axis < 3; ++axis) {
    across(axis) = beyond(axis) > 0.0 ? 1.0 : 0.0;
    d(axis) = std::copysign(std::max(beyond(axis), 0.0), p(axis));
  }
  Touch touch = distance_from(d, across, n);
  touch.phi -= rounding_;
  return touch;
}

}  // namespace exposim
