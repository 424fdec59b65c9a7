#pragma once

#include <memory>
#include <vector>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A smooth surface by a cubic B-spline of its distances on a grid: C².
///
/// φ and ∇φ are those of the spline, which rounds edges off by about a cell; n is ∇φ of length one. Outside the grid,
/// the distance of what it was made from.
class DistanceGrid final : public Surface {
 public:
  /// @param coefficients of the spline [m], (i, j, k) at low + spacing·(i, j, k), k fastest; four or more along every
  /// axis.
  /// @param around what it was made from, in the same axes.
  DistanceGrid(std::vector<double> coefficients, const Eigen::Vector3i& size, const Eigen::Vector3d& low,
               double spacing, std::shared_ptr<const Surface> around);

  double distance(const Eigen::Vector3d& p) const override;
  Touch query(const Eigen::Vector3d& p) const override;
  bool is_exact() const override { return false; }
  Ball bounds() const override;

 private:
  /// In units of the spacing; false outside.
  bool find(const Eigen::Vector3d& p, Eigen::Vector3d& t, const double*& first) const;

  std::vector<double> coefficients_;
  Eigen::Vector3i size_;
  Eigen::Vector3d low_;
  double h_;
  std::shared_ptr<const Surface> around_;
};

}  // namespace exposim
