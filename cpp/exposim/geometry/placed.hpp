#pragma once

#include <memory>
#include <utility>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A surface, turned and moved.
class Placed final : public Surface {
 public:
  Placed(std::shared_ptr<const Surface> surface, const Eigen::Matrix3d& rotation, const Eigen::Vector3d& position)
      : surface_(std::move(surface)), rotation_(rotation), position_(position) {}

  double distance(const Eigen::Vector3d& p) const override { return surface_->distance(in_its_axes(p)); }
  Touch query(const Eigen::Vector3d& p) const override {
    Touch touch = surface_->query(in_its_axes(p));
    touch.n = rotation_ * touch.n;
    touch.curvature = rotation_ * touch.curvature * rotation_.transpose();
    return touch;
  }
  bool is_exact() const override { return surface_->is_exact(); }
  bool makes_wait() const override { return surface_->makes_wait(); }
  Ball bounds() const override {
    const Ball ball = surface_->bounds();
    return {rotation_ * ball.centre + position_, ball.radius};
  }

 private:
  Eigen::Vector3d in_its_axes(const Eigen::Vector3d& p) const { return rotation_.transpose() * (p - position_); }

  std::shared_ptr<const Surface> surface_;
  Eigen::Matrix3d rotation_;
  Eigen::Vector3d position_;
};

}  // namespace exposim
