#pragma once

#include <Eigen/Core>
#include <limits>

namespace exposim {

/// A surface near a point.
struct Touch {
  double phi;                 ///< signed distance [m], negative inside
  Eigen::Vector3d n;          ///< ∇φ, of unit length, pointing out
  Eigen::Matrix3d curvature;  ///< ∇²φ [1/m]; zero where the surface is flat
};

/// A ball around something.
struct Ball {
  Eigen::Vector3d centre;
  double radius;  ///< [m]; infinite around what has no end
};

/// A surface that points can touch, from either side.
class Surface {
 public:
  virtual ~Surface() = default;
  /// φ alone, for those who only ask what is near; far away, perhaps only a positive number that it is not below.
  virtual double distance(const Eigen::Vector3d& p) const = 0;
  virtual Touch query(const Eigen::Vector3d& p) const = 0;
  /// Whether n is the same everywhere.
  virtual bool is_flat() const { return false; }
  /// Whether φ is a distance, of slope n, and curvature what n changes by: not where these are interpolated, or written
  /// by others.
  virtual bool is_exact() const { return !makes_wait(); }
  /// Whether threads that ask it wait for each other, or for somebody else.
  virtual bool makes_wait() const { return false; }
  /// Holds all points with φ ≤ 0.
  virtual Ball bounds() const { return {Eigen::Vector3d::Zero(), std::numeric_limits<double>::infinity()}; }
};

}  // namespace exposim
