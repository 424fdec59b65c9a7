#pragma once

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// Everything below a plane.
class HalfSpace final : public Surface {
 public:
  /// @param normal unit length.
  HalfSpace(const Eigen::Vector3d& point, const Eigen::Vector3d& normal) : point_(point), normal_(normal) {}

  double distance(const Eigen::Vector3d& p) const override { return normal_.dot(p - point_); }
  Touch query(const Eigen::Vector3d& p) const override { return {distance(p), normal_, Eigen::Matrix3d::Zero()}; }
  bool is_flat() const override { return true; }

 private:
  Eigen::Vector3d point_, normal_;
};

}  // namespace exposim
