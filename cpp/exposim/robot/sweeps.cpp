#include "exposim/robot/sweeps.hpp"

#include "exposim/robot/angle.hpp"

#define EXPOSIM_INLINE inline __attribute__((always_inline))

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

Mat3 rotation_about(const Vec3& u, double cosine, double sine) {
  const Vec3 w = (1.0 - cosine) * u, s = sine * u;
  return {{{w.x * u.x + cosine, w.x * u.y + s.z, w.x * u.z - s.y},
           {w.x * u.y - s.z, w.y * u.y + cosine, w.y * u.z + s.x},
           {w.x * u.z + s.y, w.y * u.z - s.x, w.z * u.z + cosine}}};
}

/// @param u x, y, z, w
Mat3 rotation_of_quaternion(const double* u) {
  const double x = 2.0 * u[0], y = 2.0 * u[1], z = 2.0 * u[2];
  const double wx = u[3] * x, wy = u[3] * y, wz = u[3] * z;
  const double xx = u[0] * x, xy = u[0] * y, xz = u[0] * z, yy = u[1] * y, yz = u[1] * z, zz = u[2] * z;
  return {
      {{1.0 - (yy + zz), xy + wz, xz - wy}, {xy - wz, 1.0 - (xx + zz), yz + wx}, {xz + wy, yz - wx, 1.0 - (xx + yy)}}};
}

void write_angles(const Tree& tree, const VectorXd& q, TreeData& data) {
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
EXPOSIM_INLINE Vec3 place(const Tree& tree, std::size_t i, const VectorXd& q, TreeData& data) {
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
      for (Index k = 0; k < joint.nv; ++k) {
        const JointColumn column = data.others.column(i, k);
        columns[k].linear = body.R * column.linear;
        columns[k].angular = body.R * column.angular;
      }
      break;
  }
  for (Index k = 0; k < joint.nv; ++k) columns[k].o = body.p;
}

/// Velocity of a body; with the terms of its parent and its own, its drift too.
template <bool drifts>
EXPOSIM_INLINE Vec3 move(const Tree& tree, std::size_t i, const Vec3& d, const VectorXd& q, const VectorXd& v,
                         TreeData& data, Drift& drift) {
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

/// Inertia in world axes: R I Rᵀ.
EXPOSIM_INLINE Symmetric3 turned(const Mat3& R, const Symmetric3& I) {
  const auto& [a, b, c] = R.columns;
  const Vec3 x(a.x, b.x, c.x), y(a.y, b.y, c.y), z(a.z, b.z, c.z);
  const Vec3 Ix = I * x, Iy = I * y, Iz = I * z;
  return {dot(x, Ix), dot(x, Iy), dot(y, Iy), dot(x, Iz), dot(y, Iz), dot(z, Iz)};
}

EXPOSIM_INLINE void weigh(const TreeJoint& joint, const Mat3& R, BodyTerms& terms) {
  terms.mc = terms.all_mc = R * joint.mc;
  terms.I = terms.all_I = turned(R, joint.I);
  terms.mass = joint.mass;
}

/// What it takes to move a body as it drifts.
EXPOSIM_INLINE void push(double mass, const Vec3& mc, const Symmetric3& I, const Vec3& omega, const Drift& drift,
                         const Vec3& gravity, BodyTerms& terms) {
  const Vec3 a = drift.a - gravity;
  const Vec3 f = mass * a + cross(drift.alpha, mc) + cross(omega, cross(omega, mc));
  const Vec3 n = I * drift.alpha + cross(omega, I * omega) + cross(mc, a);
  terms.alpha = drift.alpha;
  terms.a = drift.a;
  terms.f = f;
  terms.n = n;
}

/// h of a joint, and what its parent feels of it.
EXPOSIM_INLINE void pull(const Tree& tree, std::size_t i, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyTerms& terms = data.terms[i];
  const Vec3 f = terms.f, n = terms.n;
  const Column* const columns = data.columns.data() + joint.in_v;
  double* const h = data.h.data() + joint.in_v;
  switch (joint.kind) {
    case JointKind::kHinge:
    case JointKind::kEndlessHinge:
      h[0] = dot(columns->angular, n);
      break;
    case JointKind::kSlide:
      h[0] = dot(columns->linear, f);
      break;
    case JointKind::kFree:
      for (int k = 0; k < 3; ++k) {
        h[k] = dot(columns[k].linear, f);
        h[3 + k] = dot(columns[3 + k].angular, n);
      }
      break;
    case JointKind::kOther:
      for (Index k = 0; k < joint.nv; ++k) h[k] = dot(columns[k].linear, f) + dot(columns[k].angular, n);
      break;
  }
  if (joint.parent == 0) return;
  BodyTerms& parent = data.terms[joint.parent];
  parent.f += f;
  parent.n += n + cross(terms.d, f);
}

/// Adds the inertia of all that a body carries to that of its parent, about the parent's origin.
EXPOSIM_INLINE void carry(const BodyTerms& terms, BodyTerms& parent) {
  const Vec3 d = terms.d, mc = terms.all_mc;
  const Vec3 u = mc + (0.5 * terms.mass) * d;
  const double xx = d.x * u.x, yy = d.y * u.y, zz = d.z * u.z;
  Symmetric3 I = terms.all_I;
  I += {2.0 * (yy + zz),          -(d.x * u.y + d.y * u.x), 2.0 * (xx + zz),
        -(d.x * u.z + d.z * u.x), -(d.y * u.z + d.z * u.y), 2.0 * (xx + yy)};
  parent.mass += terms.mass;
  parent.all_mc += mc + terms.mass * d;
  parent.all_I += I;
}

/// Writes the entries of M between joints that carry joint i and a momentum (f, n) about its origin.
EXPOSIM_INLINE void write_ancestors(const Tree& tree, std::size_t i, const Vec3& f, Vec3 n, const TreeData& data,
                                    double* out) {
  for (;;) {
    n += cross(data.terms[i].d, f);
    i = tree.joints[i].parent;
    if (i == 0) return;
    const TreeJoint& joint = tree.joints[i];
    const Column* const columns = data.columns.data() + joint.in_v;
    switch (joint.kind) {
      case JointKind::kHinge:
      case JointKind::kEndlessHinge:
        *out++ = dot(columns->angular, n);
        break;
      case JointKind::kSlide:
        *out++ = dot(columns->linear, f);
        break;
      case JointKind::kFree:
        for (int k = 3; k-- > 0;) *out++ = dot(columns[3 + k].angular, n);
        for (int k = 3; k-- > 0;) *out++ = dot(columns[k].linear, f);
        break;
      case JointKind::kOther:
        for (Index k = joint.nv; k-- > 0;) *out++ = dot(columns[k].linear, f) + dot(columns[k].angular, n);
        break;
    }
  }
}

/// Writes the columns of M of a body that flies freely in the world: in its own axes they are sparse.
void write_free_mass(const Mat3& R, const BodyTerms& terms, const double* armature, double* out) {
  const Vec3 c = transposed_times(R, terms.all_mc);
  const auto& [x, y, z] = R.columns;
  const Vec3 Ix = terms.all_I * x, Iy = terms.all_I * y, Iz = terms.all_I * z;
  for (int k = 0; k < 3; ++k) {
    *out++ = terms.mass + armature[k];
    for (int s = 0; s < k; ++s) *out++ = 0.0;
  }
  const double angular[] = {dot(x, Ix) + armature[3], c.y,        -c.z,       0.0,       //
                            dot(y, Iy) + armature[4], dot(x, Iy), -c.x,       0.0, c.z,  //
                            dot(z, Iz) + armature[5], dot(y, Iz), dot(x, Iz), 0.0, c.x, -c.y};
  for (const double entry : angular) *out++ = entry;
}

/// Writes the columns of M that belong to a joint.
void write_mass(const Tree& tree, std::size_t i, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyTerms& terms = data.terms[i];
  const Column* const columns = data.columns.data() + joint.in_v;
  const double* const armature = tree.armature.data() + joint.in_v;
  double* out = data.M.data() + joint.first;
  if (joint.kind == JointKind::kHinge || joint.kind == JointKind::kEndlessHinge) {
    const Vec3 axis = columns->angular;
    const Vec3 f = cross(axis, terms.all_mc), n = terms.all_I * axis;
    out[0] = dot(axis, n) + armature[0];
    write_ancestors(tree, i, f, n, data, out + 1);
    return;
  }
  if (joint.kind == JointKind::kFree && joint.parent == 0) {
    write_free_mass(data.bodies[i].R, terms, armature, out);
    return;
  }
  for (Index k = 0; k < joint.nv; ++k) {
    const Column& own = columns[k];
    const Vec3 f = terms.mass * own.linear + cross(own.angular, terms.all_mc);
    const Vec3 n = terms.all_I * own.angular + cross(terms.all_mc, own.linear);
    out[0] = dot(own.linear, f) + dot(own.angular, n) + armature[k];
    for (Index s = 1; s <= k; ++s) out[s] = dot(columns[k - s].linear, f) + dot(columns[k - s].angular, n);
    write_ancestors(tree, i, f, n, data, out + k + 1);
    out += joint.depth + k + 1;
  }
}

}  // namespace

TreeData::TreeData(const PinocchioModel& model, const Tree& tree)
    : bodies(tree.joints.size()),
      terms(tree.joints.size()),
      columns(static_cast<std::size_t>(tree.armature.size())),
      angles(tree.joints.size()),
      h(tree.armature.size()),
      M(tree.packed),
      others(model, tree) {}

void sweep_motions(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  write_angles(tree, q, data);
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    const Vec3 d = place(tree, i, q, data);
    Drift none;
    move<false>(tree, i, d, q, v, data, none);
  }
}

void sweep_terms(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  write_angles(tree, q, data);
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    BodyTerms& terms = data.terms[i];
    const Vec3 d = terms.d = place(tree, i, q, data);
    write_columns(tree, i, data);
    weigh(tree.joints[i], data.bodies[i].R, terms);
    Drift drift;
    const Vec3 omega = move<true>(tree, i, d, q, v, data, drift);
    push(tree.joints[i].mass, terms.mc, terms.I, omega, drift, tree.gravity, terms);
  }
  for (std::size_t i = tree.joints.size(); i-- > 1;) {
    pull(tree, i, data);
    write_mass(tree, i, data);
    if (const std::size_t parent = tree.joints[i].parent; parent != 0) carry(data.terms[i], data.terms[parent]);
  }
}

void sweep_bias(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    BodyTerms& terms = data.terms[i];
    Drift drift;
    const Vec3 omega = move<true>(tree, i, terms.d, q, v, data, drift);
    push(tree.joints[i].mass, terms.mc, terms.I, omega, drift, tree.gravity, terms);
  }
  for (std::size_t i = tree.joints.size(); i-- > 1;) pull(tree, i, data);
}

}  // namespace exposim
