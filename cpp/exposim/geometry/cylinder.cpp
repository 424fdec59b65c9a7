#include "exposim/geometry/cylinder.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/geometry/nearest.hpp"

namespace exposim {

using Eigen::Vector3d;

double Cylinder::distance(const Vector3d& p) const {
  const double aside = std::sqrt(p.x() * p.x() + p.y() * p.y()) - radius_;
  const double above = std::abs(p.z()) - half_length_;
  const double out = std::max(aside, 0.0), up = std::max(above, 0.0);
  return std::min(std::max(aside, above), 0.0) + std::sqrt(out * out + up * up) - rounding_;
}

Touch Cylinder::query(const Vector3d& p) const {
  const double from_axis = std::sqrt(p.x() * p.x() + p.y() * p.y());
  const double aside = from_axis - radius_, above = std::abs(p.z()) - half_length_;
  const double up = std::copysign(1.0, p.z());
  if (aside <= 0.0 && above >= aside) return {above - rounding_, up * Vector3d::UnitZ(), Eigen::Matrix3d::Zero()};

  const bool has_side = from_axis >= kIndistinct;
  const Vector3d e = has_side ? Vector3d(p.x() / from_axis, p.y() / from_axis, 0.0) : Vector3d::UnitX();
  const Vector3d round(-e.y(), e.x(), 0.0);  // along the circumference
  Touch touch{aside - rounding_, e, Eigen::Matrix3d::Zero()};
  double slope = 1.0;  // of φ, away from the axis
  if (above > 0.0) {   // beyond the rim
    const double length = std::sqrt(aside * aside + above * above);
    touch.phi = length - rounding_;
    if (length < kIndistinct) return touch;
    slope = aside / length;
    touch.n = slope * e + (up * above / length) * Vector3d::UnitZ();
    const Vector3d over = (up * above / length) * e - slope * Vector3d::UnitZ();  // across the rim
    touch.curvature = over * (over / length).transpose();
  }
  if (has_side) touch.curvature += round * (slope / from_axis * round).transpose();
  return touch;
}

Ball Cylinder::bounds() const {
  return {Vector3d::Zero(), std::sqrt(radius_ * radius_ + half_length_ * half_length_) + rounding_};
}

}  // namespace exposim
