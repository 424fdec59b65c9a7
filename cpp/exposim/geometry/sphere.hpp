#pragma once

#include "exposim/geometry/nearest.hpp"

namespace exposim {

/// A ball around the origin.
class Sphere final : public Surface {
 public:
  /// @param radius [m], above zero.
  explicit Sphere(double radius) : radius_(radius) {}

  double distance(const Eigen::Vector3d& p) const override { return p.norm() - radius_; }
  Touch query(const Eigen::Vector3d& p) const override {
    Touch touch = distance_from(p, Eigen::Vector3d::Ones(), Eigen::Vector3d::UnitZ());
    touch.phi -= radius_;
    return touch;
  }
  Ball bounds() const override { return {Eigen::Vector3d::Zero(), radius_}; }

 private:
  double radius_;
};

}  // namespace exposim
