#include "exposim/robot/dynamics_derivatives.hpp"

#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/row_sums.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

EXPOSIM_INLINE double dot6(const Vec3& a, const Vec3& b, const Vec3& x, const Vec3& y) { return dot(a, x) + dot(b, y); }

EXPOSIM_INLINE double trace(const Mat3& A) { return A.columns[0].x + A.columns[1].y + A.columns[2].z; }

/// A += b aᵀ
EXPOSIM_INLINE void add_outer(const Vec3& b, const Vec3& a, Mat3& A) {
  A.columns[0] += a.x * b;
  A.columns[1] += a.y * b;
  A.columns[2] += a.z * b;
}

EXPOSIM_INLINE void add(const Mat3& B, Mat3& A) {
  for (int k = 0; k < 3; ++k) A.columns[k] += B.columns[k];
}

/// I about a point that is d before the one it was about, where the mass is and mc its product with its centre.
Symmetric3 shifted(const Symmetric3& about, double mass, const Vec3& mc, const Vec3& d) {
  const Vec3 u = mc + (0.5 * mass) * d;
  const double xx = d.x * u.x, yy = d.y * u.y, zz = d.z * u.z;
  Symmetric3 I = about;
  I += {2.0 * (yy + zz),          -(d.x * u.y + d.y * u.x), 2.0 * (xx + zz),
        -(d.x * u.z + d.z * u.x), -(d.y * u.z + d.z * u.y), 2.0 * (xx + yy)};
  return I;
}

}  // namespace

void DynamicsDerivatives::take_terms(const RobotData& data) {
  tree_ = &data.robot().tree();
  const std::vector<TreeJoint>& joints = tree_->joints;
  dofs_.resize(data.tree().columns.size());
  bodies_.resize(joints.size());
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const TreeJoint& joint = joints[i];
    const BodyTerms& terms = data.tree().terms[i];
    const Vec3 p = data.tree().bodies[i].p;
    Body& body = bodies_[i];
    body.o = joint.parent == 0 ? p : bodies_[joint.parent].o;
    const Vec3 r = p - body.o;
    body.own = {joint.mass, terms.mc + joint.mass * r, shifted(terms.I, joint.mass, terms.mc, r)};
    for (Index k = joint.in_v; k < joint.in_v + joint.nv; ++k) {
      const Column& column = data.tree().columns[static_cast<std::size_t>(k)];
      dofs_[static_cast<std::size_t>(k)].S = {column.angular, column.linear + cross(column.angular, body.o - column.o)};
    }
  }
}

void DynamicsDerivatives::begin(const RobotData& data, const VectorXd& dv) { begin(&data, dv); }
void DynamicsDerivatives::begin_at_rest(const VectorXd& dv) { begin(nullptr, dv); }

EXPOSIM_INLINE void DynamicsDerivatives::move_body(const RobotData& data, std::size_t i) {
  Body& body = bodies_[i];
  const BodyMotion& motion = data.tree().bodies[i];
  const BodyTerms& terms = data.tree().terms[i];
  const Vec3 omega = motion.omega, r = motion.p - body.o;
  const auto& [mass, mc, I] = body.own;
  body.V = {omega, motion.v - cross(omega, r)};
  body.A.w += terms.alpha;
  body.A.v += terms.a - cross(omega, motion.v) - cross(terms.alpha, r) - tree_->gravity;
  body.P = mass * body.V.v + cross(omega, mc);
  // Σ m r rᵀ = tr(I)/2 − I
  const double half = 0.5 * (I.xx + I.yy + I.zz);
  body.G.columns[0] = cross(omega, Vec3(half - I.xx, -I.xy, -I.xz));
  body.G.columns[1] = cross(omega, Vec3(-I.xy, half - I.yy, -I.yz));
  body.G.columns[2] = cross(omega, Vec3(-I.xz, -I.yz, half - I.zz));
  add_outer(body.V.v, mc, body.G);
}

EXPOSIM_FOR_EACH_MACHINE
void DynamicsDerivatives::begin(const RobotData* data, const VectorXd& dv) {
  const std::vector<TreeJoint>& joints = tree_->joints;
  moves_ = data != nullptr;
  bodies_[0] = {};
  if (moves_) bodies_[0].A.v = -1.0 * tree_->gravity;
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const TreeJoint& joint = joints[i];
    const Body& before = bodies_[joint.parent];
    Body& body = bodies_[i];
    body.pushed = before.pushed;
    for (Index k = joint.in_v; k < joint.in_v + joint.nv; ++k) {
      const Spatial& S = dofs_[static_cast<std::size_t>(k)].S;
      body.pushed.w += dv(k) * S.w;
      body.pushed.v += dv(k) * S.v;
    }
    body.A = body.pushed;
    if (moves_) move_body(*data, i);
    body.inertia = body.own;
    body.F = body.own * body.A;
    if (moves_) {
      body.F.v += cross(body.V.w, body.P);
      body.F.w += trace(body.G) * body.V.w - body.G * body.V.w;
    }
    body.f = body.n = {};
    body.N = {};
    for (Index k = joint.in_v; k < joint.in_v + joint.nv; ++k) {
      auto& [S, psi, chi, sigma] = dofs_[static_cast<std::size_t>(k)];
      chi = crossed(before.A, S);
      if (!moves_) continue;
      psi = crossed(before.V, S);
      const Spatial again = crossed(before.V, psi), carried = crossed(body.V, S);
      chi = {chi.w + again.w, chi.v + again.v};
      sigma = {psi.w + carried.w, psi.v + carried.v};
    }
  }
}

void DynamicsDerivatives::add_force(std::size_t joint, const Vector3d& c, const Vector3d& arm, const Vector3d& force,
                                    const Vector3d& torque) {
  if (joint == 0) return;
  Body& body = bodies_[joint];
  const Vec3 r = Vec3(c) - body.o, f(force);
  body.f += f;
  body.n += Vec3(torque) + cross(r + Vec3(arm), f);
  add_outer(r, f, body.N);
  const double along = dot(r, f);
  body.N.columns[0].x -= along;
  body.N.columns[1].y -= along;
  body.N.columns[2].z -= along;
}

EXPOSIM_FOR_EACH_MACHINE
void DynamicsDerivatives::compute(RowMatrixXd& by_q, RowMatrixXd* by_v) {
  const std::vector<TreeJoint>& joints = tree_->joints;
  const auto nv = static_cast<Index>(dofs_.size());
  for (RowMatrixXd* each : {&by_q, by_v}) {
    if (!each) continue;
    each->resize(nv, nv);
    clear_numbers(each->size(), each->data());
  }
  for (std::size_t i = joints.size() - 1; i > 0; --i) {
    const TreeJoint& joint = joints[i];
    const Body& body = bodies_[i];
    const double trace_G = trace(body.G);
    for (Index k = joint.in_v; k < joint.in_v + joint.nv; ++k) {
      const Dof& own = dofs_[static_cast<std::size_t>(k)];
      const Spatial& S = own.S;
      // What others feel of it, if they carry it, and what it feels of them.
      Spatial t = body.inertia * own.chi, t_v;
      t.w += cross(S.w, body.F.w) + cross(S.v, body.F.v) - cross(S.v, body.f) - body.N * S.w;
      t.v += cross(S.w, body.F.v);
      const Spatial u = body.inertia * S;
      Vec3 u_psi, u_S = -1.0 * (cross(S.w, body.n) + cross(S.v, body.f) + transposed_times(body.N, S.w));
      if (moves_) {
        t.w += 2.0 * (trace_G * own.psi.w - body.G * own.psi.w);
        t.v += 2.0 * cross(own.psi.w, body.P);
        t_v = body.inertia * own.sigma;
        t_v.w += 2.0 * (trace_G * S.w - body.G * S.w);
        t_v.v += 2.0 * cross(S.w, body.P);
        u_psi = 2.0 * (trace_G * S.w - transposed_times(body.G, S.w) + cross(body.P, S.v));
      }
      const auto feels = [&](Index j) EXPOSIM_INLINE_CALL {
        const Dof& other = dofs_[static_cast<std::size_t>(j)];
        double q = dot6(u.w, u.v, other.chi.w, other.chi.v) + dot(u_S, other.S.w);
        if (moves_) q += dot(u_psi, other.psi.w);
        by_q(k, j) = q;
        if (by_v) (*by_v)(k, j) = dot6(u.w, u.v, other.sigma.w, other.sigma.v) + dot(u_psi, other.S.w);
      };
      for (Index j = joint.in_v; j < joint.in_v + joint.nv; ++j) feels(j);
      for (std::size_t parent = joint.parent; parent != 0; parent = joints[parent].parent) {
        for (Index j = joints[parent].in_v; j < joints[parent].in_v + joints[parent].nv; ++j) {
          const Spatial& carrying = dofs_[static_cast<std::size_t>(j)].S;
          by_q(j, k) = dot6(carrying.w, carrying.v, t.w, t.v);
          if (by_v) (*by_v)(j, k) = dot6(carrying.w, carrying.v, t_v.w, t_v.v);
          feels(j);
        }
      }
    }
    if (joint.parent == 0) continue;
    Body& parent = bodies_[joint.parent];
    parent.inertia.mass += body.inertia.mass;
    parent.inertia.mc += body.inertia.mc;
    parent.inertia.I += body.inertia.I;
    parent.F.w += body.F.w;
    parent.F.v += body.F.v;
    parent.f += body.f;
    parent.n += body.n;
    add(body.N, parent.N);
    if (!moves_) continue;
    parent.P += body.P;
    add(body.G, parent.G);
  }
}

DynamicsDerivatives::Acceleration DynamicsDerivatives::acceleration(std::size_t joint, const Vector3d& c) const {
  const Body& body = bodies_[joint];
  const Vec3 r = Vec3(c) - body.o;
  return {Vector3d(at(body.A, r) + cross(body.V.w, at(body.V, r)) + tree_->gravity), Vector3d(body.A.w)};
}

EXPOSIM_FOR_EACH_MACHINE
void DynamicsDerivatives::put_acceleration(std::size_t joint, const Vector3d& c, const Vector3d& arm, Index first,
                                           RowMatrixXd& J, RowMatrixXd& by_q, RowMatrixXd* by_v) const {
  const Body& body = bodies_[joint];
  const Vec3 r = Vec3(c) - body.o, a(arm);
  const Spatial V = moves_ ? body.V : Spatial();
  const Vec3 u = at(V, r), ddc = at(body.A, r) + cross(V.w, u), alpha = body.A.w, omega = V.w;
  const bool has_arm = !arm.isZero(0.0);
  const auto write = [&](const Vec3& x, Index column, RowMatrixXd& out) EXPOSIM_INLINE_CALL {
    out(first, column) = x.x;
    out(first + 1, column) = x.y;
    out(first + 2, column) = x.z;
  };
  for (std::size_t i = joint; i != 0; i = tree_->joints[i].parent) {
    for (Index k = tree_->joints[i].in_v; k < tree_->joints[i].in_v + tree_->joints[i].nv; ++k) {
      const auto& [S, psi, chi, sigma] = dofs_[static_cast<std::size_t>(k)];
      Vec3 moved = at(S, r), q = cross(S.w, ddc) + at(chi, r);
      if (moves_) q += cross(2.0 * psi.w, u);
      if (has_arm) {
        moved += cross(S.w, a);
        q += cross(cross(S.w, alpha) + chi.w, a);
        if (moves_) q += cross(cross(psi.w, omega), a);
      }
      write(moved, k, J);
      write(q, k, by_q);
      if (!by_v) continue;
      Vec3 v = at(sigma, r) + cross(2.0 * S.w, u);
      if (has_arm) v += cross(sigma.w + cross(S.w, omega), a);
      write(v, k, *by_v);
    }
  }
}

}  // namespace exposim
