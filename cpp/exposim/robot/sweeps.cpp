#include "exposim/robot/sweeps.hpp"

#include "exposim/robot/joint_motion.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Inertia in world axes: R I Rᵀ.
EXPOSIM_INLINE Symmetric3 turned(const Mat3& R, const Symmetric3& I) {
  const auto& [a, b, c] = R.columns;
  const Vec3 x(a.x, b.x, c.x), y(a.y, b.y, c.y), z(a.z, b.z, c.z);
  const Vec3 Ix = I * x, Iy = I * y, Iz = I * z;
  return {dot(x, Ix), dot(x, Iy), dot(y, Iy), dot(x, Iz), dot(y, Iz), dot(z, Iz)};
}

EXPOSIM_INLINE void weigh(const TreeJoint& joint, const Mat3& R, BodyTerms& terms) {
  const Vec3 mc = R * joint.mc;
  const Symmetric3 I = turned(R, joint.I);
  terms.mc = mc;
  terms.I = I;
  terms.mass = joint.mass;
  terms.all_mc = mc;
  terms.all_I = I;
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
EXPOSIM_INLINE void write_free_mass(const Mat3& R, const BodyTerms& terms, const double* armature, double* out) {
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
EXPOSIM_FOR_EACH_MACHINE
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

EXPOSIM_FOR_EACH_MACHINE
void sweep_motions(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  write_angles(tree, q, data);
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    const Vec3 d = place(tree, i, q, data);
    Drift none;
    move<false>(tree, i, d, q, v, data, none);
  }
}

EXPOSIM_FOR_EACH_MACHINE
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

EXPOSIM_FOR_EACH_MACHINE
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
