#pragma once

#include <algorithm>

#include "exposim/geometry/nearest.hpp"

namespace exposim {

/// All within a radius of a piece of the z axis, its middle at the origin.
class Capsule final : public Surface {
 public:
  /// @param radius [m], above zero. @param half_length of the piece [m], not negative.
  Capsule(double radius, double half_length) : radius_(radius), half_length_(half_length) {}

  double distance(const Eigen::Vector3d& p) const override { return from_axis(p).norm() - radius_; }
  Touch query(const Eigen::Vector3d& p) const override {
    const Eigen::Vector3d d = from_axis(p);
    Touch touch = distance_from(d, {1.0, 1.0, d.z() != 0.0 ? 1.0 : 0.0}, Eigen::Vector3d::UnitX());
    touch.phi -= radius_;
    return touch;
  }
  Ball bounds() const override { return {Eigen::Vector3d::Zero(), radius_ + half_length_}; }

 private:
  Eigen::Vector3d from_axis(const Eigen::Vector3d& p) const {
    return {p.x(), p.y(), p.z() - std::clamp(p.z(), -half_length_, half_length_)};
  }

  double radius_, half_length_;
};

}  // namespace exposim
