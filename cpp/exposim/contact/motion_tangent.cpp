#include "exposim/contact/motion_tangent.hpp"

#include <Eigen/Geometry>
#include <cmath>

#include "exposim/robot/kinematics.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// By which the place is moved where curvature is differentiated [m]: of that alone no derivative is known.
constexpr double kStride = 2e-6;

/// ∂(∇²φ u)/∂p for a u that stays.
Matrix3d differentiate_curvature(const Surface& surface, const Vector3d& p, const Vector3d& u) {
  Matrix3d result;
  for (Index axis = 0; axis < 3; ++axis) {
    const Vector3d by = kStride * Vector3d::Unit(axis);
    result.col(axis) = (surface.query(p + by).curvature - surface.query(p - by).curvature) * u / (2.0 * kStride);
  }
  return result;
}

/// The rotation that takes one normal to another by the shortest way, with c = n₀·n₁ and w = n₀ × n₁:
///
///   T a = c a + w × a + w (w·a)/(1 + c)
struct Turn {
  Vector3d from, to, w;
  double c;

  Turn(const Vector3d& n0, const Vector3d& n1) : from(n0), to(n1), w(n0.cross(n1)), c(n0.dot(n1)) {}
  Vector3d of(const Vector3d& a) const { return c * a + w.cross(a) + w.dot(a) / (1.0 + c) * w; }
  Tangent tangent(const Vector3d& a, const Tangent& da, const Tangent& dn0, const Tangent& dn1) const {
    const double share = 1.0 / (1.0 + c), along = w.dot(a);
    Matrix3d by_a = skew(w) + share * w * w.transpose(), by_w = share * w * a.transpose() - skew(a);
    by_a.diagonal().array() += c;
    by_w.diagonal().array() += share * along;
    const Vector3d by_c = a - share * share * along * w;
    const Matrix3d by_from = by_c * to.transpose() - by_w * skew(to);
    const Matrix3d by_to = by_c * from.transpose() + by_w * skew(from);
    Tangent result = by_a * da;
    result.noalias() += by_from * dn0;
    result.noalias() += by_to * dn1;
    return result;
  }
};

/// exp(φ + dφ) = exp(J dφ) exp(φ)
Matrix3d left_jacobian(const Vector3d& phi) {
  const double angle = phi.norm(), square = angle * angle;
  const double first = angle < 1e-3 ? 0.5 - square / 24.0 : (1.0 - std::cos(angle)) / square;
  const double second = angle < 1e-3 ? 1.0 / 6.0 - square / 120.0 : (angle - std::sin(angle)) / (square * angle);
  const Matrix3d cross = skew(phi);
  return Matrix3d::Identity() + first * cross + second * cross * cross;
}
/// Its inverse: I − ½[θ] + (1 − ½θ cot ½θ)/θ² [θ]²
Matrix3d left_jacobian_inverse(const Vector3d& theta) {
  const double angle = theta.norm(), half = 0.5 * angle;
  const double square = angle < 1e-3 ? 1.0 / 12.0 : (1.0 - half / std::tan(half)) / (angle * angle);
  const Matrix3d cross = skew(theta);
  return Matrix3d::Identity() - 0.5 * cross + square * cross * cross;
}

Matrix3d across(const Vector3d& n) { return Matrix3d::Identity() - n * n.transpose(); }

/// Of a − (a·n) n
Tangent differentiate_tangent(const Vector3d& a, const Vector3d& n, const Tangent& da, const Tangent& dn) {
  const Matrix3d by_n = -n.dot(a) * Matrix3d::Identity() - n * a.transpose();
  return across(n) * da + by_n * dn;
}

}  // namespace

void differentiate_motion(const World& world, const RobotData& data, const Movers& movers, const PointOf& point,
                          int surface, const Motion& motion, const Tangent& dq, const Tangent& dv, bool drift,
                          MotionTangent& out) {
  const std::size_t joint = world.joint_of(surface);
  const Vector3d c = motion.p - motion.arm;
  BodyTangent a, b;
  update_body_tangent(data, movers, point.joint, c, a);
  update_body_tangent(data, movers, motion.carried ? joint : 0, c, b);
  const Matrix3d R = motion.carried ? motion.carrier : Matrix3d(Matrix3d::Identity());
  const Vector3d omega = a.omega - b.omega;
  const Tangent past = (a.J - b.J) * dq;  // of the centre, past the surface
  out.dc = (a.velocity_by_q - b.velocity_by_q) * dq + (a.J - b.J) * dv;
  out.spin = b.omega_by_q * dq + b.J_omega * dv;
  const Tangent domega = a.omega_by_q * dq + a.J_omega * dv - out.spin;
  out.carrier = b.J_omega * dq;
  out.in_carrier = R.transpose() * past;
  out.rotation = R.transpose() * ((a.J_omega - b.J_omega) * dq);
  out.phi = motion.n.transpose() * past;
  out.n.setZero(3, dq.cols());
  if (motion.curved) out.n = motion.curvature * past;
  if (motion.carried) {
    out.dc -= crossed(b.omega, past);
    out.n -= crossed(motion.n, out.carrier);
  }
  out.arm = -motion.arm.norm() * out.n;
  out.dp = out.dc + crossed(omega, out.arm) - crossed(motion.arm, domega);
  out.bends.setZero();
  if (!drift || !motion.curved) return;
  // In the frame of the carrier, where the surface stays what it is.
  out.bends = motion.curvature * motion.dc;
  const Vector3d u = R.transpose() * motion.dc;
  const Matrix3d third =
      R * differentiate_curvature(world.surface(surface), motion.carried ? motion.in_carrier : c, u) * R.transpose();
  const Tangent du = motion.carried ? Tangent(out.dc + crossed(motion.dc, out.carrier)) : out.dc;
  out.bend = motion.curvature * du + third * past;
  out.bend_along = 2.0 * out.bends.transpose() * du + motion.dc.transpose() * third * past;
  if (motion.carried) out.bend -= crossed(out.bends, out.carrier);
}

void differentiate_turn_ahead(const World& world, int surface, const Motion& start, const Vector3d& s,
                              const Motion& ahead, double h, MotionTangent& d) {
  Motion motion = start;
  Vector3d stretch = s;
  if (start.carried) {
    const Vector3d angle = h * start.spin;
    const Matrix3d turn = ahead.carrier * start.carrier.transpose();
    const Tangent by = h * left_jacobian(angle) * d.spin;
    const auto turned = [&](Vector3d& a, Tangent& da) {
      a = turn * a;
      da = turn * da - crossed(a, by);
    };
    turned(motion.n, d.n);
    turned(motion.dp, d.dp);
    turned(motion.dc, d.dc);
    turned(motion.arm, d.arm);
    turned(stretch, d.s);
    if (start.curved) turned(d.bends, d.bend);
    motion.carrier = ahead.carrier;
    d.carrier = turn * d.carrier + by;
  }
  if (!start.curved) return;
  const Matrix3d R = start.carried ? motion.carrier : Matrix3d(Matrix3d::Identity());
  const Vector3d x = start.carried ? start.in_carrier : Vector3d(start.p - start.arm), u = R.transpose() * motion.dc;
  const Matrix3d curvature = world.surface(surface).query(x + h * u).curvature;
  Tangent du = d.dc;
  if (start.carried) du += crossed(motion.dc, d.carrier);
  Tangent dn = R * curvature * (d.in_carrier + h * R.transpose() * du);
  if (start.carried) dn -= crossed(ahead.n, d.carrier);
  const Turn turn(motion.n, ahead.n);
  d.dp = turn.tangent(motion.dp, d.dp, d.n, dn);
  d.arm = turn.tangent(motion.arm, d.arm, d.n, dn);
  d.s = turn.tangent(stretch, d.s, d.n, dn);
  d.n = dn;
}

Tangent differentiate_along(const Motion& from, const Motion& to, const Vector3d& a, const MotionTangent& of_from,
                            const MotionTangent& of_to, const Tangent& da) {
  if (!to.carried) return da;
  const Matrix3d turn = to.carrier * from.carrier.transpose();
  return turn * (da + crossed(a, of_from.carrier)) - crossed(turn * a, of_to.carrier);
}

Tangent differentiate_travel(const Motion& from, const Motion& to, const Vector3d& arm, const MotionTangent& of_from,
                             const MotionTangent& of_to, const Tangent& darm) {
  const Matrix3d R = from.carried ? from.carrier : Matrix3d(Matrix3d::Identity());
  Tangent U = R * (of_to.in_carrier - of_from.in_carrier);
  Vector3d turned = from.carried ? Vector3d(R * (to.in_carrier - from.in_carrier)) : Vector3d(Vector3d::Zero());
  if (!arm.isZero()) {
    // θ × arm, R⁺ = exp(θ) R
    const Eigen::AngleAxisd rotated(to.rotation * from.rotation.transpose());
    const Vector3d theta = rotated.angle() * rotated.axis();
    const Tangent dtheta =
        R * (left_jacobian_inverse(theta) * of_to.rotation - left_jacobian_inverse(-theta) * of_from.rotation);
    U -= crossed(arm, dtheta);
    U += crossed(R * theta, darm);
    if (from.carried) U += crossed(arm, crossed(R * theta, of_from.carrier));
  }
  if (from.carried) U -= crossed(turned, of_from.carrier);
  return U;
}

Tangent differentiate_carry(const Vector3d& way, const Motion& from, const Motion& to, const Memory& memory,
                            const MotionTangent& of_from, const MotionTangent& of_to, const Tangent& dway,
                            const Tangent& ds) {
  const auto along = [&](const Vector3d& a, const Tangent& da) {
    return differentiate_along(from, to, a, of_from, of_to, da);
  };
  const Vector3d n = along_with_carrier(from, to, from.n), moved = along_with_carrier(from, to, way);
  const Vector3d s = along_with_carrier(from, to, memory.s);
  if (n.dot(to.n) < thresholds::kOtherSide) return Tangent::Zero(3, ds.cols());
  const Tangent dn = along(from.n, of_from.n);
  const Vector3d sum = n + to.n, halfway = sum.normalized();
  const Tangent dhalfway = across(halfway) / sum.norm() * (dn + of_to.n);
  const Turn first(n, halfway), second(halfway, to.n);
  Tangent half = first.tangent(s, along(memory.s, ds), dn, dhalfway);
  half += differentiate_tangent(moved, halfway, along(way, dway), dhalfway);
  return second.tangent(first.of(s) + tangent(moved, halfway), half, dhalfway, of_to.n);
}

}  // namespace exposim
