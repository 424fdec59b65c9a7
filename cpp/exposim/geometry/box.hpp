#pragma once

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A box around the origin, along the axes, with edges and corners rounded: a smaller box and all within the rounding.
class Box final : public Surface {
 public:
  /// @param half_size [m], above zero. @param rounding radius [m], at most the smallest half size.
  Box(const Eigen::Vector3d& half_size, double rounding)
      : inner_(half_size.array() - rounding), rounding_(rounding), reach_(inner_.norm() + rounding) {}

  double distance(const Eigen::Vector3d& p) const override;
  /// Within, the nearest face counts; of several the first of x, y, z.
  Touch query(const Eigen::Vector3d& p) const override;
  Ball bounds() const override { return {Eigen::Vector3d::Zero(), reach_}; }

 private:
  Eigen::Vector3d inner_;  ///< half size of the smaller box
  double rounding_, reach_;
};

}  // namespace exposim
