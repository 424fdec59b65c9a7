#pragma once

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A cylinder along z around the origin, its rims rounded: a smaller cylinder and all within the rounding.
class Cylinder final : public Surface {
 public:
  /// @param radius @param half_length [m], above zero. @param rounding radius [m], at most the smaller of the two.
  Cylinder(double radius, double half_length, double rounding)
      : radius_(radius - rounding), half_length_(half_length - rounding), rounding_(rounding) {}

  double distance(const Eigen::Vector3d& p) const override;
  /// Within, the nearest face counts; on the axis, where all sides are as near, that along x.
  Touch query(const Eigen::Vector3d& p) const override;
  Ball bounds() const override;

 private:
  double radius_, half_length_;  ///< of the smaller cylinder
  double rounding_;
};

}  // namespace exposim
