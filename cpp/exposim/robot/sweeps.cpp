#include "exposim/robot/sweeps.hpp"

#include <Eigen/Geometry>
#include <cmath>

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// Results are made in locals and stored at once: the compiler cannot know that bodies do not overlap.

Matrix3d rotation_about(const Vector3d& u, double cosine, double sine) {
  const Vector3d w = (1.0 - cosine) * u, s = sine * u;
  Matrix3d R;
  R << w.x() * u.x() + cosine, w.x() * u.y() - s.z(), w.x() * u.z() + s.y(),  //
      w.x() * u.y() + s.z(), w.y() * u.y() + cosine, w.y() * u.z() - s.x(),   //
      w.x() * u.z() - s.y(), w.y() * u.z() + s.x(), w.z() * u.z() + cosine;
  return R;
}

Matrix3d rotation_of(const double* quaternion) {
  return Eigen::Quaterniond(quaternion[3], quaternion[0], quaternion[1], quaternion[2]).toRotationMatrix();
}

Vector3d axis_of(const TreeJoint& joint, const Matrix3d& R) {
  return joint.along < 0 ? Vector3d(R * joint.axis) : Vector3d(joint.axis[joint.along] * R.col(joint.along));
}

/// Turns a frame by a hinge.
void turn(const TreeJoint& joint, const Matrix3d& before, double cosine, double sine, Matrix3d& R) {
  if (joint.along < 0) {
    R.noalias() = before * rotation_about(joint.axis, cosine, sine);
    return;
  }
  constexpr int next[] = {1, 2, 0};
  const int x = next[joint.along], y = next[x];
  const double s = joint.axis[joint.along] * sine;
  const Vector3d bx = before.col(x), by = before.col(y), bz = before.col(joint.along);
  R.col(x) = cosine * bx + s * by;
  R.col(y) = cosine * by - s * bx;
  R.col(joint.along) = bz;
}

/// Places a body. @return the way to its origin from that of its parent.
Vector3d place(const Tree& tree, std::size_t i, const VectorXd& q, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyMotion& parent = data.bodies[joint.parent];
  BodyMotion& body = data.bodies[i];
  const double* const x = q.data() + joint.in_q;
  const Matrix3d before = joint.turned ? Matrix3d(parent.R * joint.turn) : parent.R;
  Vector3d d = parent.R * joint.shift;
  switch (joint.kind) {
    case JointKind::kHinge:
      turn(joint, before, std::cos(x[0]), std::sin(x[0]), body.R);
      break;
    case JointKind::kEndlessHinge:
      turn(joint, before, x[0], x[1], body.R);
      break;
    case JointKind::kSlide:
      body.R = before;
      d += x[0] * (before * joint.axis);
      break;
    case JointKind::kFree:
      body.R.noalias() = before * rotation_of(x + 3);
      d += before * Vector3d(x[0], x[1], x[2]);
      break;
    case JointKind::kOther: {
      Matrix3d R;
      Vector3d p;
      data.others.place(i, q, R, p);
      body.R.noalias() = before * R;
      d += before * p;
      break;
    }
  }
  body.p = parent.p + d;
  return d;
}

/// Writes the columns of a joint that is placed.
void write_columns(const Tree& tree, std::size_t i, TreeData& data) {
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
      for (int k = 0; k < 3; ++k) columns[k].linear = columns[3 + k].angular = body.R.col(k);
      break;
    case JointKind::kOther:
      for (Index k = 0; k < joint.nv; ++k) {
        Vector3d linear, angular;
        data.others.column(i, k, linear, angular);
        columns[k].linear = body.R * linear;
        columns[k].angular = body.R * angular;
      }
      break;
  }
  for (Index k = 0; k < joint.nv; ++k) columns[k].o = body.p;
}

/// Velocity of a body; with the terms of its parent and its own, its drift too.
template <bool drifts>
void move(const Tree& tree, std::size_t i, const Vector3d& d, const VectorXd& q, const VectorXd& v, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyMotion& parent = data.bodies[joint.parent];
  BodyMotion& body = data.bodies[i];
  const double* const rate = v.data() + joint.in_v;
  const Vector3d omega = parent.omega;
  const Vector3d carried = omega.cross(d);  // as the parent moves it
  Vector3d alpha, a;
  if constexpr (drifts) {
    const BodyTerms& before = data.terms[joint.parent];
    alpha = before.alpha;
    a = before.a + alpha.cross(d) + omega.cross(carried);
  }
  switch (joint.kind) {
    case JointKind::kHinge:
    case JointKind::kEndlessHinge: {
      const Vector3d w = rate[0] * (drifts ? data.columns[static_cast<std::size_t>(joint.in_v)].angular
                                           : axis_of(joint, body.R));
      body.v = parent.v + carried;
      body.omega = omega + w;
      if constexpr (drifts) alpha += omega.cross(w);
      break;
    }
    case JointKind::kSlide: {
      const Vector3d l = rate[0] * axis_of(joint, body.R);
      body.v = parent.v + carried + l;
      body.omega = omega;
      if constexpr (drifts) a += 2.0 * omega.cross(l);
      break;
    }
    case JointKind::kFree: {
      const Vector3d l = body.R * Vector3d(rate[0], rate[1], rate[2]);
      const Vector3d w = body.R * Vector3d(rate[3], rate[4], rate[5]);
      body.v = parent.v + carried + l;
      body.omega = omega + w;
      if constexpr (drifts) {
        alpha += omega.cross(w);
        a += (2.0 * omega + w).cross(l);
      }
      break;
    }
    case JointKind::kOther: {
      const JointRates rates = data.others.move(i, q, v);
      const Vector3d l = body.R * rates.linear, w = body.R * rates.angular;
      body.v = parent.v + carried + l;
      body.omega = omega + w;
      if constexpr (drifts) {
        alpha += omega.cross(w) + body.R * rates.angular_drift;
        a += (2.0 * omega + w).cross(l) + body.R * rates.linear_drift;
      }
      break;
    }
  }
  if constexpr (drifts) {
    data.terms[i].alpha = alpha;
    data.terms[i].a = a;
  }
}

/// R I Rᵀ
Symmetric3 turned(const Matrix3d& R, const Symmetric3& I) {
  const Vector3d x = I * Vector3d(R.row(0)), y = I * Vector3d(R.row(1)), z = I * Vector3d(R.row(2));
  return {R.row(0).dot(x), R.row(0).dot(y), R.row(1).dot(y), R.row(0).dot(z), R.row(1).dot(z), R.row(2).dot(z)};
}

void weigh(const TreeJoint& joint, const Matrix3d& R, BodyTerms& terms) {
  terms.mc = terms.all_mc = R * joint.mc;
  terms.I = terms.all_I = turned(R, joint.I);
  terms.mass = joint.mass;
}

/// What it takes to move a body as it drifts.
void push(double mass, const Vector3d& omega, const Vector3d& gravity, BodyTerms& terms) {
  const Vector3d mc = terms.mc, alpha = terms.alpha, a = terms.a - gravity;
  terms.f = mass * a + alpha.cross(mc) + omega.cross(omega.cross(mc));
  terms.n = terms.I * alpha + omega.cross(terms.I * omega) + mc.cross(a);
}

/// h of a joint, and what its parent feels of it.
void pull(const Tree& tree, std::size_t i, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyTerms& terms = data.terms[i];
  const Vector3d f = terms.f, n = terms.n;
  const Column* const columns = data.columns.data() + joint.in_v;
  double* const h = data.h.data() + joint.in_v;
  switch (joint.kind) {
    case JointKind::kHinge:
    case JointKind::kEndlessHinge:
      h[0] = columns->angular.dot(n);
      break;
    case JointKind::kSlide:
      h[0] = columns->linear.dot(f);
      break;
    case JointKind::kFree:
      for (int k = 0; k < 3; ++k) {
        h[k] = columns[k].linear.dot(f);
        h[3 + k] = columns[3 + k].angular.dot(n);
      }
      break;
    case JointKind::kOther:
      for (Index k = 0; k < joint.nv; ++k) h[k] = columns[k].linear.dot(f) + columns[k].angular.dot(n);
      break;
  }
  if (joint.parent == 0) return;
  BodyTerms& parent = data.terms[joint.parent];
  parent.f += f;
  parent.n += n + terms.d.cross(f);
}

/// Adds the inertia of all that a body carries to that of its parent.
void carry(const BodyTerms& terms, BodyTerms& parent) {
  const Vector3d d = terms.d;
  const Vector3d u = terms.all_mc + 0.5 * terms.mass * d;
  const double xx = d.x() * u.x(), yy = d.y() * u.y(), zz = d.z() * u.z();
  parent.all_I += terms.all_I;
  parent.all_I += {2.0 * (yy + zz), -(d.x() * u.y() + d.y() * u.x()), 2.0 * (xx + zz),
                   -(d.x() * u.z() + d.z() * u.x()), -(d.y() * u.z() + d.z() * u.y()), 2.0 * (xx + yy)};
  parent.all_mc += terms.all_mc + terms.mass * d;
  parent.mass += terms.mass;
}

/// Writes the entries of M between a momentum (f, n) about the origin of joint i and the joints that carry it.
void write_ancestors(const Tree& tree, std::size_t i, Vector3d f, Vector3d n, const TreeData& data, double* out) {
  for (;;) {
    n += data.terms[i].d.cross(f);
    i = tree.joints[i].parent;
    if (i == 0) return;
    const TreeJoint& joint = tree.joints[i];
    const Column* const columns = data.columns.data() + joint.in_v;
    switch (joint.kind) {
      case JointKind::kHinge:
      case JointKind::kEndlessHinge:
        *out++ = columns->angular.dot(n);
        break;
      case JointKind::kSlide:
        *out++ = columns->linear.dot(f);
        break;
      case JointKind::kFree:
        for (int k = 3; k-- > 0;) *out++ = columns[3 + k].angular.dot(n);
        for (int k = 3; k-- > 0;) *out++ = columns[k].linear.dot(f);
        break;
      case JointKind::kOther:
        for (Index k = joint.nv; k-- > 0;) *out++ = columns[k].linear.dot(f) + columns[k].angular.dot(n);
        break;
    }
  }
}

/// Writes the columns of M that belong to a joint.
void write_mass(const Tree& tree, std::size_t i, TreeData& data) {
  const TreeJoint& joint = tree.joints[i];
  const BodyTerms& terms = data.terms[i];
  const Column* const columns = data.columns.data() + joint.in_v;
  const double* const armature = tree.armature.data() + joint.in_v;
  double* out = data.M.data() + joint.first;
  if (joint.kind == JointKind::kHinge || joint.kind == JointKind::kEndlessHinge) {
    const Vector3d axis = columns->angular;
    const Vector3d f = axis.cross(terms.all_mc), n = terms.all_I * axis;
    out[0] = axis.dot(n) + armature[0];
    write_ancestors(tree, i, f, n, data, out + 1);
    return;
  }
  for (Index k = 0; k < joint.nv; ++k) {
    const Column& own = columns[k];
    const Vector3d f = terms.mass * own.linear + own.angular.cross(terms.all_mc);
    const Vector3d n = terms.all_I * own.angular + terms.all_mc.cross(own.linear);
    out[0] = own.linear.dot(f) + own.angular.dot(n) + armature[k];
    for (Index s = 1; s <= k; ++s) out[s] = columns[k - s].linear.dot(f) + columns[k - s].angular.dot(n);
    write_ancestors(tree, i, f, n, data, out + k + 1);
    out += joint.depth + k + 1;
  }
}

}  // namespace

TreeData::TreeData(const PinocchioModel& model, const Tree& tree)
    : bodies(tree.joints.size()),
      terms(tree.joints.size()),
      columns(static_cast<std::size_t>(tree.armature.size())),
      h(tree.armature.size()),
      M(tree.packed),
      others(model, tree) {}

void sweep_motions(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    const Vector3d d = place(tree, i, q, data);
    move<false>(tree, i, d, q, v, data);
  }
}

void sweep_terms(const Tree& tree, const VectorXd& q, const VectorXd& v, TreeData& data) {
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    BodyTerms& terms = data.terms[i];
    const Vector3d d = terms.d = place(tree, i, q, data);
    write_columns(tree, i, data);
    weigh(tree.joints[i], data.bodies[i].R, terms);
    move<true>(tree, i, d, q, v, data);
    push(tree.joints[i].mass, data.bodies[i].omega, tree.gravity, terms);
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
    move<true>(tree, i, terms.d, q, v, data);
    push(tree.joints[i].mass, data.bodies[i].omega, tree.gravity, terms);
  }
  for (std::size_t i = tree.joints.size(); i-- > 1;) pull(tree, i, data);
}

}  // namespace exposim
