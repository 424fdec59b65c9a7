#pragma once

#include <vector>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// Everything below z = f(x, y), with f a bicubic Hermite interpolation of heights on a grid: C¹, with slopes by
/// central differences, through the heights that are given.
///
/// Beyond its border the ground goes on level within one cell, with the height of the border beside it; only a grid
/// that is a plane goes on as that plane. φ is the distance to the closest point, wherever that is.
class HeightField final : public Surface {
 public:
  using Heights = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// @param heights [m], (i, j) at x = origin.x + i·spacing, y = origin.y + j·spacing; two or more either way.
  HeightField(const Heights& heights, double spacing, const Eigen::Vector2d& origin);

  /// More than 20 cells above everything, only how far above.
  double distance(const Eigen::Vector3d& p) const override;
  Touch query(const Eigen::Vector3d& p) const override;

  /// f there [m].
  double height(double x, double y) const { return local_shape((x - origin_.x()) / h_, (y - origin_.y()) / h_).f * h_; }

 private:
  // All within is in units of the spacing, from the origin of the grid.
  struct Shape {
    double f, fx, fy, fxx, fxy, fyy;
  };
  struct Foot {
    double x, y, squared;  ///< where, and how far away
    Shape shape;
  };
  /// Of f in a part of the ground: its range, and the largest slope and second derivative.
  struct Limits {
    double low, high, slope, bend;
    void add(const Limits& other);
  };

  Eigen::Vector3d in_cells(const Eigen::Vector3d& p) const {
    return {(p.x() - origin_.x()) / h_, (p.y() - origin_.y()) / h_, p.z() / h_};
  }
  Shape local_shape(double x, double y) const;
  Foot closest(const Eigen::Vector3d& p) const;
  Foot foot_at(const Eigen::Vector3d& p, double x, double y) const;
  Foot descend(const Eigen::Vector3d& p, Foot foot) const;
  bool is_only(const Eigen::Vector3d& p, double away) const;
  bool is_farther(const Eigen::Vector3d& p, const Limits& part, double x, double y, double squared) const;
  void search(const Eigen::Vector3d& p, Foot& best) const;
  Limits limits_of_cell(Eigen::Index i, Eigen::Index j) const;

  const Limits& cell(Eigen::Index i, Eigen::Index j) const {
    return cells_[static_cast<std::size_t>(i * cells_y_ + j)];
  }
  const Limits& block(Eigen::Index i, Eigen::Index j) const {
    return blocks_[static_cast<std::size_t>(i * blocks_y_ + j)];
  }
  static Eigen::Index numbered(double at, Eigen::Index count);

  double h_;
  Eigen::Vector2d origin_;
  bool plane_ = false;
  double level_ = 0.0, slope_x_ = 0.0, slope_y_ = 0.0;  ///< of a grid that is a plane; heights are what it leaves
  Heights nodes_;                                       ///< with three more all around
  Eigen::Index cells_x_, cells_y_, blocks_x_, blocks_y_;
  std::vector<Limits> cells_;   ///< with two more all around, of which the outer goes on for ever
  std::vector<Limits> blocks_;  ///< of 8 × 8 cells
  Limits all_;
};

}  // namespace exposim
