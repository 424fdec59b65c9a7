#pragma once

#include <Eigen/Core>

namespace exposim {

/// A surface near a point.
struct Touch {
  double phi;                 ///< signed distance [m], negative inside
  Eigen::Vector3d n;          ///< ∇φ, of unit length, pointing out
  Eigen::Matrix3d curvature;  ///< ∇²φ [1/m]; zero where the surface is flat
};

/// A surface that points can touch, from either side.
class Surface {
 public:
  virtual ~Surface() = default;
  /// φ alone, for those who only ask what is near.
  virtual double distance(const Eigen::Vector3d& p) const = 0;
  virtual Touch query(const Eigen::Vector3d& p) const = 0;
  /// Whether n is the same everywhere.
  virtual bool is_flat() const { return false; }
};

}  // namespace exposim
