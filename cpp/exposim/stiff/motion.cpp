#include "exposim/stiff/motion.hpp"

#include <Eigen/Geometry>
#include <cmath>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// θ of a spherical foot, R⁺ = exp(θ) R, as it looks at the first motion.
Vector3d rotation_vector(const Motion& from, const Motion& to) {
  const Eigen::AngleAxisd turned(to.rotation * from.rotation.transpose());
  const Vector3d theta = turned.angle() * turned.axis();
  return from.carried ? Vector3d(from.carrier * theta) : theta;
}

/// Whether two normals differ by rounding alone, as those of a flat face do that is carried about.
bool is_same(const Vector3d& a, const Vector3d& b) {
  return (a - b).squaredNorm() < thresholds::kSameNormal * thresholds::kSameNormal;
}

Matrix3d skew(const Vector3d& a) {
  Matrix3d result;
  result << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return result;
}

}  // namespace

Vector3d travel(const Motion& from, const Motion& to, const Vector3d& arm) {
  if (from.carried) {
    Vector3d way = from.carrier * (to.in_carrier - from.in_carrier);
    if (from.slides) {  // that the centre moves along its edge is no travel: what is halfway on the edge stays there
      const Vector3d half = 0.5 * (to.place - from.place);
      way -= from.carrier * (to.rotation * half + from.rotation * half);
    }
    return arm.isZero() ? way : Vector3d(way + rotation_vector(from, to).cross(arm));
  }
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

void carry(const Vector3d& way, const Motion& from, const Motion& to, Memory& memory) {
  if (memory.mode == Mode::kBound) {
    memory.s += way;
    return;
  }
  const Vector3d n = along_with_carrier(from, to, from.n), moved = along_with_carrier(from, to, way);
  memory.s = along_with_carrier(from, to, memory.s);
  if (is_same(n, to.n)) {
    memory.s += tangent(moved, to.n);
  } else if (n.dot(to.n) < thresholds::kOtherSide) {
    memory.s.setZero();
  } else {
    // The chord lies in the tangent plane of the normal halfway; the stretch turns with the normal.
    const Vector3d halfway = (n + to.n).normalized();
    memory.s = Eigen::Quaterniond::FromTwoVectors(n, halfway) * memory.s + tangent(moved, halfway);
    memory.s = Eigen::Quaterniond::FromTwoVectors(halfway, to.n) * memory.s;
  }
}

void turn(const Motion& from, const Motion& to, Memory& memory) {
  const Vector3d n = along_with_carrier(from, to, from.n);
  memory.s = along_with_carrier(from, to, memory.s);
  if (n.dot(to.n) < thresholds::kOtherSide) {
    memory.s.setZero();
  } else if (!is_same(n, to.n)) {
    memory.s = Eigen::Quaterniond::FromTwoVectors(n, to.n) * memory.s;
  }
}

}  // namespace exposim
