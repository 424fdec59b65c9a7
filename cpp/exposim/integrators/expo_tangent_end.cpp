// Derivatives of how a step of Expo moves the robot, makes it agree with contact space, and is committed.

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Feels = AgreementDifference::Feels;

namespace {

Matrix3d rotation_at(const VectorXd& q, Index first) {
  return Eigen::Quaterniond(q(first + 6), q(first + 3), q(first + 4), q(first + 5)).toRotationMatrix();
}

/// Of the point at a lever from the origin of a body, by the velocities, or their rates, that begin there.
Vector3d at_lever(const VectorXd& v, Index in_v, const Vector3d& lever) {
  return v.segment<3>(in_v) + Vector3d(v.segment<3>(in_v + 3)).cross(lever);
}
Tangent at_lever(const Tangent& dv, Index in_v, const Vector3d& lever) {
  return dv.middleRows<3>(in_v) - crossed(lever, dv.middleRows<3>(in_v + 3));
}

}  // namespace

void ExpoTangent::move(const RobotData& data, const VectorXd& v, const State& next, const VectorXd& way) {
  const Robot& robot = world_.robot();
  const State& start = now_->state;
  Tangent by = dt_ * (start_velocity() + 0.5 * dt_ * da2_);
  displace(a_.col(1), da2_, by);
  dv_next_ = start_velocity() + dt_ * da_;
  dq_next_ = by;
  for (Index i = 0; i < to_.nv; ++i) dq_next_(i, to_.q(i)) += 1.0;
  integrate_derivatives(robot, start.q, way, A0_, A1_);
  for (const std::size_t i : robot.tree().free_bodies) {
    const TreeJoint& joint = robot.tree().joints[i];
    const Index in_v = joint.in_v, turn = in_v + 3;
    const Matrix3d R0 = rotation_at(start.q, joint.in_q), R1 = rotation_at(next.q, joint.in_q);
    const Matrix3d R = joint.turn.matrix().transpose() * data.tree().bodies[i].R.matrix();
    auto dturn = dq_next_.middleRows<3>(turn);
    dturn = A1_.block<3, 3>(turn, turn) * by.middleRows<3>(turn);
    dturn.middleCols<3>(to_.q(turn)) += A0_.block<3, 3>(turn, turn);
    // As the world sees it: c̈ = R (a + ω × v), ċ = R₀ v₀, of the point at a lever from the origin.
    const Vector3d lever = joint.lever, w = v.segment<3>(turn);
    const Vector3d u = at_lever(v, in_v, lever), u0 = at_lever(start.v, in_v, lever),
                   u1 = at_lever(next.v, in_v, lever);
    const Tangent turning = crossed(w, at_lever(dv_mid_, in_v, lever)) - crossed(u, dv_mid_.middleRows<3>(turn));
    const auto acceleration = [&](Index column, const Tangent& da) -> Tangent {
      const Vector3d a = at_lever(VectorXd(a_.col(column)), in_v, lever) + w.cross(u);
      return R * (at_lever(da, in_v, lever) + turning - crossed(a, system_.dq.middleRows<3>(turn)));
    };
    Tangent dc = Tangent::Zero(3, to_.size);
    dc.middleCols<3>(to_.v(in_v)) = R0;
    dc.middleCols<3>(to_.v(turn)) = -R0 * skew(lever);
    dc.middleCols<3>(to_.q(turn)) = -R0 * skew(u0);
    Tangent c = dt_ * dc + 0.5 * dt_ * dt_ * acceleration(1, da2_);
    c.middleCols<3>(to_.q(in_v)) += R0;
    c.middleCols<3>(to_.q(turn)) -= R0 * skew(lever);
    dq_next_.middleRows<3>(in_v) = R1.transpose() * c + crossed(lever, dturn);
    dv_next_.middleRows<3>(in_v) = R1.transpose() * (dc + dt_ * acceleration(0, da_)) + crossed(u1, dturn) +
                                   crossed(lever, dv_next_.middleRows<3>(turn));
  }
}

void ExpoTangent::update_point(const RobotData& data, std::size_t joint, const Vector3d& position, const Vector3d& arm,
                               const Tangent& dq, const Tangent& dv, PointAt& out) {
  update_point_tangent(data, movers_, joint, position, arm, point_);
  const auto of = [&](const Eigen::Matrix3Xd& by) {
    RowMatrixXd all = RowMatrixXd::Zero(3, to_.nv);
    put(by, *point_.dofs, 0, all);
    return all;
  };
  out.c = product(of(point_.position_by_q), dq);
  if (!arm.isZero()) out.turn = product(of(point_.J_omega), dq);
  out.dp = product(of(point_.velocity_by_q), dq);
  add_product(of(point_.J), dv, out.dp);
}

Tangent ExpoTangent::travelled(const Motion& from, const Motion& to, const Vector3d& arm, const PointAt& start,
                               const PointAt& end) {
  Tangent U = end.c - start.c;
  if (arm.isZero()) return U;
  // θ × arm, R⁺ = exp(θ) R: dθ = J⁻¹(θ) dR⁺ − J⁻¹(−θ) dR.
  Motion other = from, same = to;
  other.arm = same.arm = arm;
  U.noalias() += travel_by_rotation(other, same) * end.turn;
  U.noalias() += travel_by_rotation(same, other) * (-start.turn);
  return U;
}

void ExpoTangent::aim_at_averages(const StrandList& strands) {
  modes_.clear();
  for (const Strand& strand : strands.all()) modes_.push_back(strand.memory.mode);
  way_target_ = dt_ * system_.dp + 0.5 * dt_ * dt_ * ddp2_;
  dp_target_ = system_.dp + dt_ * ddp_;
}

void ExpoTangent::correct(RobotData& data, const StrandList& strands,
                          const std::vector<AgreementDifference>& differences, const Eigen::MatrixX2d& pushed,
                          const Eigen::MatrixX2d& turned, const VectorXd& q, const State& next) {
  if (!supported_) return;
  const std::size_t count = strands.all().size();
  const Index m = row(count);
  update_movers(data, movers_);
  MatrixXd Q = MatrixXd::Zero(m, m);
  Tangent off = Tangent::Zero(m, to_.size), doff = off;  // in position and velocity
  Eigen::MatrixX2d values = Eigen::MatrixX2d::Zero(m, 2);
  for (std::size_t k = 0; k < count; ++k) {
    const AgreementDifference& each = differences[k];
    if (each.feels == Feels::kNothing) continue;
    const Strand& strand = strands.all()[k];
    const Motion& start = strand.motion;
    const Vector3d& n = start.n;
    values.col(0).segment<3>(row(k)) = each.dp;
    values.col(1).segment<3>(row(k)) = each.p;
    Q.block<3, 3>(row(k), row(k)) = each.Q;
    if (const Turning* const each_turning = turning(k)) {
      compare_turning(data, strand, *each_turning, off.middleRows<3>(row(k)), doff.middleRows<3>(row(k)));
      continue;
    }
    update_point(data, strand.a, strand.position, start.arm, dq_next_, dv_next_, at_end_);
    const auto way = way_target_.middleRows<3>(row(k)), dp = dp_target_.middleRows<3>(row(k));
    auto p_rows = off.middleRows<3>(row(k)), dp_rows = doff.middleRows<3>(row(k));
    const Motion end = contact_motion(world_, data, strand.point, strand.memory.surface);
    const Mode mode = modes_[k];
    if (mode == Mode::kBound) {
      p_rows = way - travelled(start, end, start.arm, starts_[k], at_end_);
      dp_rows = dp - at_end_.dp;
      continue;
    }
    const Tangent deeper = n.transpose() * (starts_[k].c + way - at_end_.c);
    p_rows = n * deeper;
    if (mode == Mode::kOpen || mode == Mode::kIdle) continue;
    if (mode == Mode::kSlipping) {
      dp_rows = n * (n.transpose() * (dp - at_end_.dp));
      continue;
    }
    const Matrix3d across = Matrix3d::Identity() - n * n.transpose();
    p_rows += across * (way - travelled(start, end, start.arm, starts_[k], at_end_));
    dp_rows = dp - at_end_.dp;
  }
  const MatrixXd Upsilon = compliance_.Upsilon().topLeftCorner(m, m);
  const MatrixXd inverse = (MatrixXd::Identity(m, m) + Upsilon * Q).inverse();
  const Eigen::MatrixX2d x = inverse * values, w = Q * x;
  // The derivatives of M⁻¹Jᵀw, and of w.
  const auto push = [&](Index column, const Tangent& change) {
    Tangent da;
    hold_response(strands, pushed.col(column), w.col(column), da);
    Tangent dQ = Tangent::Zero(m, to_.size);
    for (std::size_t k = 0; k < count; ++k) {
      const Vector3d each = x.col(column).segment<3>(row(k)), &n = strands.all()[k].motion.n;
      if (differences[k].feels == Feels::kAll) add_change_of_Q(strands, k, dt_, each, dQ);
      if (differences[k].feels == Feels::kNormal) add_change_of_Q(strands, k, dt_, n.dot(each) * n, dQ);
    }
    VectorXd all = VectorXd::Zero(compliance_.Upsilon().rows());
    all.head(m) = w.col(column);
    Tangent rest = change - change_of_Upsilon(all).topRows(m);
    if (!system_.materials.empty()) add_product(-Upsilon, dQ, rest);
    Tangent dw = product(Q * inverse, rest);
    dw += dQ;
    add_product(compliance_.response().leftCols(m), dw, da);
    return da;
  };
  Tangent dv = push(0, doff), dq = push(1, off);
  const Robot& robot = world_.robot();
  integrate_derivatives(robot, q, turned.col(1), A0_, A1_);
  // Free bodies: from where terms were taken to where they are.
  for (const std::size_t i : robot.tree().free_bodies) {
    const TreeJoint& joint = robot.tree().joints[i];
    const Index in_v = joint.in_v, turn = in_v + 3;
    Matrix3d mid;
    for (Index k = 0; k < 3; ++k) mid.col(k) = movers_mid_[static_cast<std::size_t>(in_v + k)].linear;
    const Matrix3d R = data.tree().bodies[i].R.matrix();
    const Tangent by = mid * system_.dq.middleRows<3>(turn) - R * dq_next_.middleRows<3>(turn);
    const Vector3d lever = joint.lever;
    for (const Index column : {0, 1}) {
      Tangent& of = column == 0 ? dv : dq;
      const VectorXd given = pushed.col(column);
      const auto turned = [&](const Vector3d& x, const Tangent& dx) -> Tangent {
        return R.transpose() * (mid * dx - crossed(mid * x, by));
      };
      const Tangent there = turned(at_lever(given, in_v, lever), at_lever(of, in_v, lever));
      of.middleRows<3>(turn) = turned(given.segment<3>(turn), of.middleRows<3>(turn));
      of.middleRows<3>(in_v) = there + crossed(lever, of.middleRows<3>(turn));
    }
  }
  const Tangent before = dq_next_, v_before = dv_next_ + dv;
  dv_next_ = v_before;
  dq_next_ += dq;
  for (const std::size_t i : robot.tree().free_bodies) {
    const TreeJoint& joint = robot.tree().joints[i];
    const Index in_v = joint.in_v, turn = in_v + 3;
    dq_next_.middleRows<6>(in_v) =
        A0_.block<6, 6>(in_v, in_v) * before.middleRows<6>(in_v) + A1_.block<6, 6>(in_v, in_v) * dq.middleRows<6>(in_v);
    const Matrix3d Rb = rotation_at(q, joint.in_q), Ra = rotation_at(next.q, joint.in_q);
    const Vector3d lever = joint.lever, u = at_lever(next.v, in_v, lever), u_before = Rb.transpose() * (Ra * u);
    const Tangent dc = Rb * (at_lever(v_before, in_v, lever) - crossed(u_before, before.middleRows<3>(turn)));
    dv_next_.middleRows<3>(in_v) =
        Ra.transpose() * dc + crossed(u, dq_next_.middleRows<3>(turn)) + crossed(lever, v_before.middleRows<3>(turn));
  }
}

void ExpoTangent::end(const RobotData& data, const StrandList& strands, const Resolver* resolver, const Step& step) {
  out_.next.setZero(world_.tangent_size(), to_.size);
  out_.next.topRows(to_.nv) = dq_next_;
  out_.next.middleRows(to_.nv, to_.nv) = dv_next_;
  stretch(data, strands, resolver, step);
  grip(step.next.state);
  out_.grazing.clear();
  if (resolver) out_.grazing = resolver_.grazing();
  for (Grazing& each : out_.grazing) each.strand = strands.all()[each.strand].index;
}

void ExpoTangent::stretch(const RobotData& data, const StrandList& strands, const Resolver* resolver,
                          const Step& step) {
  update_movers(data, movers_);
  const Instant& next = step.next;
  for (std::size_t i = 0; i < world_.contacts().size(); ++i) {
    const Memory& committed = next.state.memory[i];
    if (!committed.active()) continue;
    if (may_turn(committed.surface)) {
      stretch_turning(data, strands, resolver, i, next);
      continue;
    }
    const std::size_t point = world_.point_of(i, committed);
    const ContactPoint shape = world_.shape(point);
    const Motion& to = next.motions[i];
    update_point(data, shape.joint, shape.position, to.arm, dq_next_, dv_next_, at_end_);
    Tangent ds = Tangent::Zero(3, to_.size);
    Memory before;
    const Tangent* material = nullptr;
    for (std::size_t k = 0; k < strands.all().size(); ++k) {
      const Strand& strand = strands.all()[k];
      const bool same = strand.index == i || strand.index == Strand::kNone;
      if (!same || strand.point != point || strand.memory.surface != committed.surface) continue;
      before = carried(strands, k, resolver, to, ds);
      if (!system_.materials.empty()) material = &system_.materials[k];
    }
    commit(to, before, committed, world_.law(i, committed), at_end_, material, ds);
    out_.next.middleRows<3>(to_.stretch(i)) = ds;
  }
}

Memory ExpoTangent::carried(const StrandList& strands, std::size_t k, const Resolver* resolver, const Motion& to,
                            Tangent& ds) const {
  const Strand& strand = strands.all()[k];
  const Motion& from = strand.motion;
  Memory memory = resolver ? resolver->end(k) : strand.memory;
  if (!memory.active()) return memory;
  const Matrix3d plane = memory.mode == Mode::kBound ? Matrix3d(Matrix3d::Identity())
                                                     : Matrix3d(Matrix3d::Identity() - to.n * to.n.transpose());
  if (!resolver) {
    carry(travel(from, to), from, to, memory);
    ds = plane * travelled(from, to, to.arm, starts_[k], at_end_);
    ds.middleCols<3>(to_.stretch(strand.index)) += plane;
    return memory;
  }
  ds = resolver_.stretch(k);
  if (memory.slipping()) return memory;
  carry(travel(from, to, from.arm) - resolver->moved(k), from, to, memory);
  ds += plane * (travelled(from, to, from.arm, starts_[k], at_end_) - resolver_.moved(k));
  return memory;
}

void ExpoTangent::commit(const Motion& motion, const Memory& carried, const Memory& committed, const Law& law,
                         const PointAt& at, const Tangent* material, Tangent& ds) const {
  if (committed.mode == Mode::kIdle) ds.setZero();
  if (committed.mode != Mode::kSlipping) return;
  const Material* const made_of = law.made_of();
  if (!made_of) return;
  // s = −μ λ_n t̂ / K_t, with t̂ the direction of the force that would have held it.
  const Vector3d& n = motion.n;
  const double lam_n = -made_of->K_n * (motion.phi - committed.phi0) - made_of->B_n * n.dot(motion.dp);
  const Vector3d held = -made_of->K_t * carried.s - made_of->B_t * tangent(motion.dp, n);
  const double norm = held.norm();
  const Vector3d direction = held / norm;
  const Matrix3d across = Matrix3d::Identity() - n * n.transpose();
  Tangent dheld = -made_of->K_t * ds - made_of->B_t * across * at.dp;
  Tangent dlam_n = -n.transpose() * (made_of->K_n * at.c + made_of->B_n * at.dp);
  if (material) {
    dheld -= carried.s * material->row(1);
    dheld -= tangent(motion.dp, n) * material->row(3);
    dlam_n -= (motion.phi - committed.phi0) * material->row(0) + n.dot(motion.dp) * material->row(2);
  }
  const double by = made_of->mu / made_of->K_t;
  ds = -by * (direction * dlam_n + lam_n / norm * (across - direction * direction.transpose()) * dheld);
  if (!material) return;
  ds -= lam_n * direction * (material->row(4) / made_of->K_t - by / made_of->K_t * material->row(1));
}

}  // namespace exposim
