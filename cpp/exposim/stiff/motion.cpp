#include "exposim/stiff/motion.hpp"

#include <Eigen/Geometry>
#include <cmath>

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// θ of a spherical foot, R⁺ = exp(θ) R.
Vector3d rotation_vector(const Motion& from, const Motion& to) {
  const Eigen::AngleAxisd turned(to.rotation * from.rotation.transpose());
  return turned.angle() * turned.axis();
}

Matrix3d skew(const Vector3d& a) {
  Matrix3d result;
  result << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return result;
}

}  // namespace

Vector3d travel(const Motion& from, const Motion& to, const Vector3d& arm) {
  if (arm.isZero()) return to.p - from.p;
  return (to.p - to.arm) - (from.p - from.arm) + rotation_vector(from, to).cross(arm);
}

Matrix3d travel_by_rotation(const Motion& from, const Motion& to) {
  // ∂θ/∂δ = I − ½[θ] + (1 − ½θ cot ½θ)/θ² [θ]²
  const Vector3d theta = rotation_vector(from, to), arm = 0.5 * (from.arm + to.arm);
  const double angle = theta.norm(), half = 0.5 * angle;
  const double square = angle < 1e-3 ? 1.0 / 12.0 : (1.0 - half / std::tan(half)) / (angle * angle);
  const Matrix3d cross = skew(theta);
  return -skew(arm) * (Matrix3d::Identity() - 0.5 * cross + square * cross * cross);
}

void carry(const Vector3d& way, const Vector3d& n, const Motion& to, Memory& memory) {
  if (memory.mode == Mode::kBound) {
    memory.s += way;
  } else if (!to.curved) {
    memory.s += tangent(way, to.n);
  } else {
    // The chord lies in the tangent plane of the normal halfway; the stretch turns with the normal.
    const Vector3d halfway = (n + to.n).normalized();
    memory.s = Eigen::Quaterniond::FromTwoVectors(n, halfway) * memory.s + tangent(way, halfway);
    memory.s = Eigen::Quaterniond::FromTwoVectors(halfway, to.n) * memory.s;
  }
}

void turn(const Vector3d& n, const Motion& to, Memory& memory) {
  if (to.curved) memory.s = Eigen::Quaterniond::FromTwoVectors(n, to.n) * memory.s;
}

}  // namespace exposim
