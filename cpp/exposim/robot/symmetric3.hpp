#pragma once

#include <Eigen/Core>

namespace exposim {

/// A symmetric 3 × 3 matrix.
struct Symmetric3 {
  double xx, xy, yy, xz, yz, zz;

  Eigen::Vector3d operator*(const Eigen::Vector3d& u) const {
    return {xx * u.x() + xy * u.y() + xz * u.z(), xy * u.x() + yy * u.y() + yz * u.z(),
            xz * u.x() + yz * u.y() + zz * u.z()};
  }

  Symmetric3& operator+=(const Symmetric3& other) {
    xx += other.xx, xy += other.xy, yy += other.yy, xz += other.xz, yz += other.yz, zz += other.zz;
    return *this;
  }
};

}  // namespace exposim
