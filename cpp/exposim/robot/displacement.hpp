#pragma once

#include <cmath>

#include "exposim/robot/angle.hpp"
#include "exposim/robot/vector3.hpp"

namespace exposim {

// q ⊕ dq of joints that have more to it than a sum: for kinematics.cpp alone. Several times as short as the library's
// way through variants, which a step would leave its own code for, three times and more.

/// Of a rotation by θ.
struct HalfTurn {
  double cosine;  ///< cos θ/2
  double sine;    ///< (sin θ/2)/θ
  double rest;    ///< (θ − sin θ)/θ³
};

/// @param square θ²
inline HalfTurn half_turn(double square) {
  constexpr double kSmall = 0.25;
  if (!(square < kSmall)) {
    const double theta = std::sqrt(square);
    const Angle half = angle(0.5 * theta);
    const double sine = half.sine / theta;
    return {half.cosine, sine, (1.0 - 2.0 * sine * half.cosine) / square};
  }
  // Taylor's series, as far as a last digit needs it.
  const double x = 0.25 * square;
  double cosine = 1.0, sine = 1.0, rest = 1.0;
  for (int n = 6; n > 0; --n) {
    cosine = 1.0 - cosine * (x * (1.0 / (2 * n * (2 * n - 1))));
    sine = 1.0 - sine * (x * (1.0 / (2 * n * (2 * n + 1))));
    rest = 1.0 - rest * (square * (1.0 / ((2 * n + 2) * (2 * n + 3))));
  }
  return {cosine, 0.5 * sine, rest * (1.0 / 6.0)};
}

/// Position and quaternion (x, y, z, w) by a twist in the joint's own axes.
inline void displace_free(const double* q, const double* dq, double* q_next) {
  const Vec3 u(dq[0], dq[1], dq[2]), theta(dq[3], dq[4], dq[5]), p(q[0], q[1], q[2]), t(q[3], q[4], q[5]);
  const double w = q[6];
  const HalfTurn half = half_turn(dot(theta, theta));
  const Vec3 across = cross(theta, u);
  const Vec3 way = u + 2.0 * half.sine * half.sine * across + half.rest * cross(theta, across);
  const Vec3 turned = 2.0 * cross(t, way);
  const Vec3 to = p + way + w * turned + cross(t, turned);
  const Vec3 axis = (w * half.sine) * theta + half.cosine * t + half.sine * cross(t, theta);
  const double real = w * half.cosine - half.sine * dot(t, theta);
  // To unit length, from where rounding left it; of the two quaternions the nearer.
  const double scale = std::copysign(0.5 * (3.0 - (dot(axis, axis) + real * real)), half.cosine);
  q_next[0] = to.x, q_next[1] = to.y, q_next[2] = to.z;
  q_next[3] = scale * axis.x, q_next[4] = scale * axis.y, q_next[5] = scale * axis.z, q_next[6] = scale * real;
}

/// Cosine and sine by an angle.
inline void displace_endless(const double* q, const double* dq, double* q_next) {
  const Angle by = angle(dq[0]);
  const double cosine = q[0] * by.cosine - q[1] * by.sine, sine = q[1] * by.cosine + q[0] * by.sine;
  const double scale = 0.5 * (3.0 - (cosine * cosine + sine * sine));
  q_next[0] = scale * cosine, q_next[1] = scale * sine;
}

}  // namespace exposim
