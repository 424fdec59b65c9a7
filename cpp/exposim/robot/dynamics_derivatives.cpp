#include "exposim/robot/dynamics_derivatives.hpp"

#include "exposim/kernels/fours.hpp"
#include "exposim/kernels/row_sums.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

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

/// Puts so many entries into a row, and so many into the same column.
EXPOSIM_INLINE void put_entries(Index which, Index nv, Index size, const double* felt, Index above,
                                const double* caused, double* A) {
  double *const row = A + which * nv, *column = A + which;
  const Index whole = size / kFour;
  for (Index i = 0; i < whole; ++i) four(row, i) = four(felt, i);
  for (Index j = whole * kFour; j < size; ++j) row[j] = felt[j];
  for (Index j = 0; j < above; ++j, column += nv) *column = caused[j];
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
  const std::size_t nv = data.tree().columns.size();
  const Index length = padded(static_cast<Index>(nv));
  if (fours_.rows() != length / kFour) fours_.setZero(length / kFour, kNumbers * kFour);
  met_.resize(4, length);
  carrying_.resize(static_cast<Index>(joints.size()), length);
  carrying_.row(0).setZero();
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const auto row = static_cast<Index>(i);
    carrying_.row(row) = carrying_.row(static_cast<Index>(joints[i].parent));
    carrying_.row(row).segment(joints[i].in_v, joints[i].nv).setOnes();
  }
  dofs_.resize(nv);
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
      put_side_by_side(k, kS, dofs_[static_cast<std::size_t>(k)].S);
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
      if (!moves_) {
        put_side_by_side(k, kChi, chi);
        continue;
      }
      psi = crossed(before.V, S);
      const Spatial again = crossed(before.V, psi), carried = crossed(body.V, S);
      chi = {chi.w + again.w, chi.v + again.v};
      sigma = {psi.w + carried.w, psi.v + carried.v};
      put_side_by_side(k, kChi, chi);
      put_side_by_side(k, kSigma, sigma);
      put_side_by_side(k, kPsi, psi.w);
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

EXPOSIM_INLINE void DynamicsDerivatives::meet(const Meeting& own, Index count, bool by_v, const double* carrying,
                                              double* felt, double* caused) const {
  const Index length = met_.cols();
  const double* others = fours_.data();
  const bool moves = moves_;
  for (Index i = 0; i < fours(count); ++i, others += kNumbers * kFour) {
    Four q = {0.0, 0.0, 0.0, 0.0}, v = q, t = q, t_v = q;
    const Four carries = four(carrying, i);
    if (carries[0] + carries[1] + carries[2] + carries[3] != 0.0) {
      for (Index r = 0; r < 6; ++r) {
        q += own.u[r] * four(others, kChi + r);
        t += own.t[r] * four(others, kS + r);
      }
      for (Index r = 0; r < 3; ++r) q += own.u_S[r] * four(others, kS + r);
      for (Index r = 0; moves && r < 3; ++r) q += own.u_psi[r] * four(others, kPsi + r);
      for (Index r = 0; by_v && r < 6; ++r) {
        v += own.u[r] * four(others, kSigma + r);
        t_v += own.t_v[r] * four(others, kS + r);
      }
      for (Index r = 0; by_v && r < 3; ++r) v += own.u_psi[r] * four(others, kS + r);
    }
    four(felt, i) = q * carries;
    four(caused, i) = t * carries;
    four(felt + length, i) = v * carries;
    four(caused + length, i) = t_v * carries;
  }
}

EXPOSIM_FOR_EACH_MACHINE
void DynamicsDerivatives::compute(RowMatrixXd& by_q, RowMatrixXd* by_v) {
  const std::vector<TreeJoint>& joints = tree_->joints;
  const auto nv = static_cast<Index>(dofs_.size());
  by_q.resize(nv, nv);
  if (by_v) by_v->resize(nv, nv);
  double *const felt = met_.data(), *const caused = met_.data() + 2 * met_.cols();
  const auto put = [](Vec3 x, double* to) EXPOSIM_INLINE_CALL {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
  };
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
      Meeting meeting;
      put(u.w, meeting.u);
      put(u.v, meeting.u + 3);
      put(u_S, meeting.u_S);
      put(u_psi, meeting.u_psi);
      put(t.w, meeting.t);
      put(t.v, meeting.t + 3);
      put(t_v.w, meeting.t_v);
      put(t_v.v, meeting.t_v + 3);
      const Index above = joint.in_v, size = joint.in_v + joint.nv;
      meet(meeting, size, by_v != nullptr, carrying_.data() + static_cast<Index>(i) * carrying_.cols(), felt, caused);
      put_entries(k, nv, size, felt, above, caused, by_q.data());
      if (by_v) put_entries(k, nv, size, felt + met_.cols(), above, caused + met_.cols(), by_v->data());
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
