#include "exposim/geometry/distance_grid.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "exposim/geometry/cubic.hpp"
#include "exposim/geometry/nearest.hpp"

namespace exposim {

using Eigen::Array4d;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

double sum(const std::array<double, 4>& weights, const Array4d& values) {
  return weights[0] * values[0] + weights[1] * values[1] + (weights[2] * values[2] + weights[3] * values[3]);
}

}  // namespace

DistanceGrid::DistanceGrid(std::vector<double> coefficients, const Eigen::Vector3i& size, const Vector3d& low,
                           double spacing, std::shared_ptr<const Surface> around)
    : coefficients_(std::move(coefficients)), size_(size), low_(low), h_(spacing), around_(std::move(around)) {}

bool DistanceGrid::find(const Vector3d& p, Vector3d& t, const double*& first) const {
  std::array<std::ptrdiff_t, 3> cell;
  for (int axis = 0; axis < 3; ++axis) {
    const double u = (p(axis) - low_(axis)) / h_;
    if (!(u >= 1.0 && u < size_(axis) - 2)) return false;  // a cubic needs one more value on either side
    cell[static_cast<std::size_t>(axis)] = static_cast<std::ptrdiff_t>(u) - 1;
    t(axis) = u - std::floor(u);
  }
  first = coefficients_.data() + (cell[0] * size_.y() + cell[1]) * size_.z() + cell[2];
  return true;
}

double DistanceGrid::distance(const Vector3d& p) const {
  Vector3d t;
  const double* first = nullptr;
  if (!find(p, t, first)) return around_->distance(p);
  const Cubic x = spline_cubic(t.x()), y = spline_cubic(t.y()), z = spline_cubic(t.z());
  Array4d along = Array4d::Zero();
  for (std::size_t i = 0; i < 4; ++i) {
    const double* row = first + static_cast<std::ptrdiff_t>(i) * size_.y() * size_.z();
    for (std::size_t j = 0; j < 4; ++j, row += size_.z()) {
      along += x.value[i] * y.value[j] * Eigen::Map<const Array4d>(row);
    }
  }
  return sum(z.value, along);
}

/// ∇²φ of a distance is that of the interpolation, but for what is along n: zero there, and scaled with n.
Touch DistanceGrid::query(const Vector3d& p) const {
  Vector3d t;
  const double* first = nullptr;
  if (!find(p, t, first)) return around_->query(p);
  const Cubic x = spline_cubic(t.x()), y = spline_cubic(t.y()), z = spline_cubic(t.z());
  // What is summed along x and y; z is left to the end.
  Array4d f = Array4d::Zero(), fx = f, fy = f, fxx = f, fxy = f, fyy = f;
  for (std::size_t i = 0; i < 4; ++i) {
    const double* row = first + static_cast<std::ptrdiff_t>(i) * size_.y() * size_.z();
    Array4d value = Array4d::Zero(), slope = value, bend = value;
    for (std::size_t j = 0; j < 4; ++j, row += size_.z()) {
      const Eigen::Map<const Array4d> each(row);
      value += y.value[j] * each;
      slope += y.slope[j] * each;
      bend += y.bend[j] * each;
    }
    f += x.value[i] * value;
    fx += x.slope[i] * value;
    fxx += x.bend[i] * value;
    fy += x.value[i] * slope;
    fxy += x.slope[i] * slope;
    fyy += x.value[i] * bend;
  }
  const double phi = sum(z.value, f);
  const Vector3d gradient = Vector3d(sum(z.value, fx), sum(z.value, fy), sum(z.slope, f)) / h_;
  const double slope = gradient.norm();
  if (slope < kIndistinct) return {phi, Vector3d::UnitZ(), Matrix3d::Zero()};
  const Vector3d n = gradient / slope;
  Matrix3d H;
  H(0, 0) = sum(z.value, fxx);
  H(1, 1) = sum(z.value, fyy);
  H(2, 2) = sum(z.bend, f);
  H(0, 1) = H(1, 0) = sum(z.value, fxy);
  H(0, 2) = H(2, 0) = sum(z.slope, fx);
  H(1, 2) = H(2, 1) = sum(z.slope, fy);
  H /= h_ * h_ * slope;
  const Vector3d bent = H * n;
  H += n.dot(bent) * n * n.transpose() - n * bent.transpose() - bent * n.transpose();
  return {phi, n, H};
}

Ball DistanceGrid::bounds() const {
  Ball ball = around_->bounds();
  ball.radius += h_;  // where the interpolation may be outside
  return ball;
}

}  // namespace exposim
