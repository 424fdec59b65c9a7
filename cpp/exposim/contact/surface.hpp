#pragma once

#include <Eigen/Core>

namespace exposim {

/// A surface that points can touch.
class Surface {
 public:
  virtual ~Surface() = default;
  /// Signed distance φ [m] of a point, negative inside.
  virtual double signed_distance(const Eigen::Vector3d& p) const = 0;
  /// Unit normal at the point of the surface nearest to p, pointing out.
  virtual Eigen::Vector3d normal(const Eigen::Vector3d& p) const = 0;
};

/// Everything below a plane.
class HalfSpace final : public Surface {
 public:
  /// @param normal unit length.
  HalfSpace(const Eigen::Vector3d& point, const Eigen::Vector3d& normal) : point_(point), normal_(normal) {}

  double signed_distance(const Eigen::Vector3d& p) const override { return normal_.dot(p - point_); }
  Eigen::Vector3d normal(const Eigen::Vector3d&) const override { return normal_; }

 private:
  Eigen::Vector3d point_, normal_;
};

}  // namespace exposim
