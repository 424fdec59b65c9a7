#pragma once

#include "exposim/kernels/fours.hpp"
#include "exposim/robot/angle.hpp"
#include "exposim/robot/tree_data.hpp"

namespace exposim {

// What a sweep outwards does at a joint: for sweeps.cpp alone.

inline Mat3 rotation_about(const Vec3& u, double cosine, double sine) {
  const Vec3 w = (1.0 - cosine) * u, s = sine * u;
  return {{{w.x * u.x + cosine, w.x * u.y + s.z, w.x * u.z - s.y},
           {w.x * u.y - s.z, w.y * u.y + cosine, w.y * u.z + s.x},
           {w.x * u.z + s.y, w.y * u.z - s.x, w.z * u.z + cosine}}};
}

/// @param u x, y, z, w
inline Mat3 rotation_of_quaternion(const double* u) {
  const double x = 2.0 * u[0], y = 2.0 * u[1], z = 2.0 * u[2];
  const double wx = u[3] * x, wy = u[3] * y, wz = u[3] * z;
  const double xx = u[0] * x, xy = u[0] * y, xz = u[0] * z, yy = u[1] * y, yz = u[1] * z, zz = u[2] * z;
  return {
      {{1.0 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1.0 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1.0 - (xx + yy)}}};
}

inline void write_angles(const Tree& tree, const Eigen::VectorXd& q, TreeData& data) {
  for (const std::size_t i : tree.hinges) data.angles[i] = angle(q[tree.joints[i].in_q]);
}

/// Rates of omega and v at v̇ = 0.
struct Drift {
  Vec3 alpha, a;
};

/// Axis of a hinge or slide, in the world.
EXPOSIM_INLINE Vec3 axis_of(const TreeJoint& joint, const Mat3& R) {
  return joint.along < 0 ? R * joint.axis : joint.sign * R.columns[joint.along];
}

/// Turns a frame by a hinge.
EXPOSIM_INLINE void turn(const TreeJoint& joint, const Mat3& before, double cosine, double sine, Mat3& R) {
  if (joint.along < 0) {
    R = before * rotation_about(joint.axis, cosine, sine);
    return;
  }
  constexpr int next[] = {1, 2, 0};
  const int x = next[joint.along], y = next[x];
  const double s = joint.sign * sine;
  const Vec3 bx = before.columns[x], by = before.columns[y], bz = before.columns[joint.along];
  R.columns[x] = cosine * bx + s * by;
  R.columns[y] = cosine * by - s * bx;
  R.columns[joint.along] = bz;
}

/// Places a body. @return the way to its origin from that of its parent.
EXPOSIM_INLINE Vec3 place(const Tree& tree, std::size_t i, const Eigen::VectorXd& q, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyMotion& parent = data.bodies[joint.parent];
  BodyMotion& body = data.bodies[i];
  const double* const x = q.data() + joint.in_q;
  Mat3 placed;
  if (joint.turned) placed = parent.R * joint.turn;
  const Mat3& before = joint.turned ? placed : parent.R;
  Vec3 d = parent.R * joint.shift;
  switch (joint.kind) {
    case JointKind::kHinge:
      turn(joint, before, data.angles[i].cosine, data.angles[i].sine, body.R);
      break;
    case JointKind::kEndlessHinge:
      turn(joint, before, x[0], x[1], body.R);
      break;
    case JointKind::kSlide:
      body.R = before;
      d += x[0] * axis_of(joint, before);
      break;
    case JointKind::kFree:
      body.R = before * rotation_of_quaternion(x + 3);
      d += before * Vec3(x[0], x[1], x[2]);
      break;
    case JointKind::kOther: {
      const JointPlacement after = data.others.place(i, q);
      body.R = before * after.R;
      d += before * after.p;
      break;
    }
  }
  body.p = parent.p + d;
  return d;
}

/// Writes the columns of a joint that is placed.
EXPOSIM_INLINE void write_columns(const Tree& tree, std::size_t i, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyMotion& body = data.bodies[i];
  Column* const columns = data.columns.data() + joint.in_v;
  switch (joint.kind) {
    case JointKind::kHinge:
    case JointKind::kEndlessHinge:
      columns->angular = axis_of(joint, body.R);
      break;
    case JointKind::kSlide:
      columns->linear = axis_of(joint, body.R);
      break;
    case JointKind::kFree:
      for (int k = 0; k < 3; ++k) columns[k].linear = columns[3 + k].angular = body.R.columns[k];
      break;
    case JointKind::kOther:
      for (Eigen::Index k = 0; k < joint.nv; ++k) {
        const JointColumn column = data.others.column(i, k);
        columns[k].linear = body.R * column.linear;
        columns[k].angular = body.R * column.angular;
      }
      break;
  }
  for (Eigen::Index k = 0; k < joint.nv; ++k) columns[k].o = body.p;
}

/// Velocity of a body; with the terms of its parent and its own, its drift too.
template <bool drifts>
EXPOSIM_INLINE Vec3 move(const Tree& tree, std::size_t i, const Vec3& d, const Eigen::VectorXd& q,
                         const Eigen::VectorXd& v, TreeData& data, Drift& drift) {
  const TreeJoint& joint = tree.joints[i];
  const BodyMotion& parent = data.bodies[joint.parent];
  BodyMotion& body = data.bodies[i];
  const double* const rate = v.data() + joint.in_v;
  const Vec3 omega = parent.omega;
  const Vec3 carried = cross(omega, d);  // as the parent moves it
  const Vec3 v_carried = parent.v + carried;
  if constexpr (drifts) {
    const BodyTerms& before = data.terms[joint.parent];
    drift.alpha = before.alpha;
    drift.a = before.a + cross(drift.alpha, d) + cross(omega, carried);
  }
  const auto finish = [&](const Vec3& l, const Vec3& w) {
    body.v = v_carried + l;
    body.omega = omega + w;
    if constexpr (drifts) {
      drift.alpha += cross(omega, w);
      drift.a += cross(2.0 * omega + w, l);
    }
  };
  switch (joint.kind) {
    case JointKind::kHinge:
    case JointKind::kEndlessHinge: {
      const Vec3 w = rate[0] * axis_of(joint, body.R);
      const Vec3 all = omega + w;
      body.v = v_carried;
      body.omega = all;
      if constexpr (drifts) drift.alpha += cross(omega, w);
      return all;
    }
    case JointKind::kSlide:
      finish(rate[0] * axis_of(joint, body.R), Vec3());
      break;
    case JointKind::kFree:
      finish(body.R * Vec3(rate[0], rate[1], rate[2]), body.R * Vec3(rate[3], rate[4], rate[5]));
      break;
    case JointKind::kOther: {
      const JointRates rates = data.others.move(i, q, v);
      drift.alpha += body.R * rates.angular_drift;
      drift.a += body.R * rates.linear_drift;
      finish(body.R * rates.linear, body.R * rates.angular);
      break;
    }
  }
  return body.omega;
}

}  // namespace exposim
