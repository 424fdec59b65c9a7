#pragma once

#include <Eigen/Core>
#include <algorithm>

namespace exposim {

/// Stiffness [N/m] and damping [N·s/m] along the normal and in the tangent plane, and friction [-].
struct Material {
  double K_n, K_t;
  double B_n, B_t;
  double mu;

  /// K and B in world axes: tangential part isotropic, normal part along n.
  Eigen::Matrix3d stiffness(const Eigen::Vector3d& n) const { return axisymmetric(K_n, K_t, n); }
  Eigen::Matrix3d damping(const Eigen::Vector3d& n) const { return axisymmetric(B_n, B_t, n); }
  double most_stiffness() const { return std::max(K_n, K_t); }
  double most_damping() const { return std::max(B_n, B_t); }

 private:
  static Eigen::Matrix3d axisymmetric(double along, double across, const Eigen::Vector3d& n) {
    return across * Eigen::Matrix3d::Identity() + (along - across) * n * n.transpose();
  }
};

}  // namespace exposim
