// Derivatives of a step of Expo where normals turn: on curved ground, and on what bodies carry.
//
// Laws know directions by the normal alone. So what a strand has (displacement, velocity, force, acceleration) is
// differentiated in axes that keep to its normal: d a − θ × a, θ × n = dn. There the law is what it was, and that axes
// turn is in Υ and J alone (TurningCompliance).

#include <Eigen/Geometry>
#include <algorithm>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Matrix3d across(const Vector3d& n) { return Matrix3d::Identity() - n * n.transpose(); }

/// d a − θ × a
Tangent in_turning_axes(const Tangent& da, const Vector3d& a, const Tangent& theta) { return da + crossed(a, theta); }
/// The way back.
Tangent in_world_axes(const Tangent& da, const Vector3d& a, const Tangent& theta) { return da - crossed(a, theta); }

}  // namespace

bool ExpoTangent::may_turn(int surface) const {
  return surface >= 0 && !(world_->joint_of(surface) == 0 && world_->surface(surface).is_flat());
}

const ExpoTangent::Turning* ExpoTangent::turning(std::size_t strand) const {
  for (const Turning& each : turning_) {
    if (each.strand == strand) return &each;
  }
  return nullptr;
}

bool ExpoTangent::has_pairs() const {
  return std::any_of(turning_.begin(), turning_.end(), [](const Turning& each) { return each.start.carried; });
}

void ExpoTangent::begin_turning(const RobotData& data, const StrandList& strands, std::size_t k) {
  const Strand& strand = strands.all()[k];
  const Motion& motion = strand.motion;
  const int surface = strand.memory.surface;
  Turning& each = turning_.emplace_back();
  each.strand = k;
  each.turns = motion.curved || motion.carried;
  each.unknown = motion.slides || !world_->surface(surface).is_exact();
  if (each.unknown) {
    if (strand.memory.active()) give_up();
    each.start = motion;
    each.theta.setZero(3, to_.size);
    add_turns(each);
    return;
  }
  each.start = contact_motion(*world_, data, strand.point, surface);
  Tangent dq = Tangent::Zero(to_.nv, to_.size);
  for (Index i = 0; i < to_.nv; ++i) dq(i, to_.q(i)) = 1.0;
  MotionTangent& start = each.of_start;
  differentiate_motion(*world_, data, movers_, {strand.a, strand.position}, surface, each.start, dq, start_velocity(),
                       true, start);
  // A stretch that is moved stays in the tangent plane.
  Vector3d s = Vector3d::Zero();
  start.s.setZero(3, to_.size);
  if (strand.memory.active()) {
    s = now_->state.memory[strand.index].s;
    start.s = -each.start.n * (s.transpose() * start.n);
    to_.add_stretch(strand.index, across(each.start.n), start.s);
  }
  each.ahead = start;
  if (strands.turned_ahead() > 0.0) {
    differentiate_turn_ahead(*world_, surface, each.start, s, motion, strands.turned_ahead(), each.ahead);
  }
  each.theta = each.ahead.turn(motion);
  add_turns(each);
  dphi_.row(static_cast<Index>(k)) = start.phi;
  const Tangent dp = in_turning_axes(each.ahead.dp, motion.dp, each.theta);
  starts_[k].dp = dp;
  system_.dp.middleRows<3>(row(k)) = dp;
  delta_dp_.middleRows<3>(row(k)) = strand.memory.slipping() ? Tangent(motion.n * (motion.n.transpose() * dp)) : dp;
  system_.delta.middleRows<3>(row(k)) =
      motion.n * start.phi + in_turning_axes(each.ahead.s, strand.memory.s, each.theta);
}

void ExpoTangent::add_turns(const Turning& turning) {
  if (!turning.turns) return;
  system_.turns.conservativeResize(system_.turns.rows() + 3, to_.size);
  system_.turns.bottomRows<3>() = turning.theta;
}

void ExpoTangent::watch_unknown(const std::vector<LookAhead::Glance>& glances) {
  for (const Turning& each : turning_) {
    if (each.unknown && glances[each.strand].does != LookAhead::Does::kNothing) give_up();
  }
}

void ExpoTangent::watch_unknown(const Resolver& resolver) {
  for (const Turning& each : turning_) {
    if (!each.unknown) continue;
    if (resolver.end(each.strand).active() || !resolver.lam_bar(each.strand).isZero(0.0)) give_up();
  }
}

void ExpoTangent::update_turning(const RobotData& data, const StrandList& strands) {
  BodyTangent a, b;
  for (Turning& each : turning_) {
    if (!each.turns) continue;
    const Strand& strand = strands.all()[each.strand];
    const Vector3d &c = c_mid_[each.strand], &arm = strand.motion.arm;
    update_body_tangent(data, movers_mid_, strand.a, c, a);
    update_body_tangent(data, movers_mid_, strand.b, c + arm, b);
    each.slides = a.J - b.J;
    each.J = each.slides - skew(arm) * a.J_omega;
    each.J_omega_b = b.J_omega;
    each.J_omega = a.J_omega - b.J_omega;
  }
}

void ExpoTangent::add_reactions(const StrandList& strands, const VectorXd& lam) {
  for (const Turning& each : turning_) {
    const Strand& strand = strands.all()[each.strand];
    if (!strand.motion.carried) continue;
    dynamics_.add_force(strand.b, c_mid_[each.strand] + strand.motion.arm, Vector3d::Zero(),
                        -lam.segment<3>(row(each.strand)), Vector3d::Zero());
  }
}

void ExpoTangent::slide_reactions(const StrandList& strands, const VectorXd& lam) {
  for (const Turning& each : turning_) {
    if (!strands.all()[each.strand].motion.carried) continue;
    const Matrix3d f = skew(lam.segment<3>(row(each.strand)));
    by_q_.noalias() -= each.J_omega_b.transpose() * (f * each.slides);
  }
}

void ExpoTangent::turn_forces(const StrandList& strands, const VectorXd& lam, Tangent& residual) const {
  for (const Turning& each : turning_) {
    if (!each.turns) continue;
    const Vector3d f = lam.segment<3>(row(each.strand)), &arm = strands.all()[each.strand].motion.arm;
    Matrix3d moment = arm * f.transpose();
    moment.diagonal().array() -= f.dot(arm);
    residual.noalias() += (each.J.transpose() * skew(f) - each.J_omega.transpose() * moment) * each.theta;
  }
}

void ExpoTangent::turn_accelerations(const RobotData& data, const StrandList& strands, const Tangent& da,
                                     Tangent& ddp) const {
  const auto dq = system_.dq.topRows(to_.nv);
  const Tangent& dv = dv_mid_;
  BodyTangent a, b;
  RowMatrixXd J_b, by_q, by_v;
  for (const Turning& each : turning_) {
    if (!each.turns || each.unknown) continue;
    const Strand& strand = strands.all()[each.strand];
    const Motion& motion = strand.motion;
    const Vector3d &c = c_mid_[each.strand], &arm = motion.arm, &n = motion.n;
    auto rows = ddp.middleRows<3>(row(each.strand));
    update_body_tangent(data, movers_mid_, strand.a, c, a);
    update_body_tangent(data, movers_mid_, motion.carried ? strand.b : 0, c, b);
    const auto [ddc, alpha] = dynamics_.acceleration(strand.a, c);
    const Vector3d omega = a.omega - b.omega;
    Vector3d whole = ddc + alpha.cross(arm);
    Matrix3d by_arm = skew(alpha);
    Tangent domega = a.omega_by_q * dq + a.J_omega * dv;
    if (motion.carried) {
      // Less what the carrier has there, and as that sees it: ω_a × (ω_b × arm) − 2 ω_b × ċ − ω_b × (ω × arm).
      for (RowMatrixXd* put : {&J_b, &by_q, &by_v}) put->setZero(3, to_.nv);
      dynamics_.put_acceleration(strand.b, c + arm, Vector3d::Zero(), 0, J_b, by_q, &by_v);
      const auto [ddp_b, alpha_b] = dynamics_.acceleration(strand.b, c + arm);
      const Matrix3d of_a = skew(a.omega), of_b = skew(b.omega), of_arm = skew(arm);
      const Matrix3d by_place = skew(alpha_b) + of_b * of_b;
      rows -= J_b * da + (by_q + by_place * each.slides) * dq + by_v * dv;
      const Vector3d dc = a.velocity - b.velocity;
      const Tangent domega_b = b.omega_by_q * dq + b.J_omega * dv;
      const Tangent change_of_dc = (a.velocity_by_q - b.velocity_by_q - of_b * (a.J - b.J)) * dq + (a.J - b.J) * dv;
      rows += (of_b * of_arm - skew(b.omega.cross(arm))) * domega;
      rows += (2.0 * skew(dc) + skew(omega.cross(arm)) - (of_a + of_b) * of_arm) * domega_b;
      rows -= 2.0 * of_b * change_of_dc;
      by_arm += of_a * of_b - of_b * skew(omega) - by_place;
      whole += a.omega.cross(b.omega.cross(arm)) - b.omega.cross(2.0 * dc + omega.cross(arm)) - ddp_b;
      domega -= domega_b;
    }
    rows += (skew(whole) - by_arm * skew(arm)) * each.theta;
    if (!motion.curved) continue;
    // What curvature adds, as axes see it that turn: along n, and the turning of the arm across it.
    const MotionTangent& d = each.ahead;
    rows += n * d.bend_along;
    if (arm.isZero()) continue;
    rows -= arm.norm() * across(n) *
            (skew(omega) * in_turning_axes(d.bend, d.bends, each.theta) -
             skew(d.bends) * in_turning_axes(domega, omega, each.theta));
  }
}

void ExpoTangent::compare_turning(const RobotData& data, const Strand& strand, const Turning& turning,
                                  Eigen::Ref<Tangent> off, Eigen::Ref<Tangent> doff) {
  if (turning.unknown) return give_up();
  const Motion& start = strand.motion;
  const Vector3d& n = start.n;
  const Mode mode = modes_[turning.strand];
  const Motion end = contact_motion(*world_, data, strand.point, strand.memory.surface);
  MotionTangent at;
  differentiate_motion(*world_, data, movers_, {strand.a, strand.position}, strand.memory.surface, end, dq_next_,
                       dv_next_, false, at);
  const Tangent way = way_target_.middleRows<3>(row(turning.strand));
  off = n * (turning.of_start.phi + n.transpose() * way - at.phi);
  if (mode == Mode::kOpen || mode == Mode::kIdle) return;
  const Tangent end_dp = in_turning_axes(differentiate_along(end, start, end.dp, at, turning.ahead, at.dp),
                                         along_with_carrier(end, start, end.dp), turning.theta);
  doff = dp_target_.middleRows<3>(row(turning.strand)) - end_dp;
  if (mode == Mode::kSlipping) {
    doff = (n * n.transpose() * doff).eval();
    return;
  }
  const Tangent travelled =
      in_turning_axes(differentiate_travel(start, end, start.arm, turning.ahead, at, turning.ahead.arm),
                      travel(start, end, start.arm), turning.theta);
  off += across(n) * (way - travelled);
}

Memory ExpoTangent::carried_turning(const Strand& strand, const Turning& turning, const Resolver* resolver,
                                    const Motion& to, const MotionTangent& at, Tangent& ds) const {
  const std::size_t k = turning.strand;
  Memory memory = resolver ? resolver->end(k) : strand.memory;
  if (!memory.active()) return memory;
  if (!resolver) {
    const Motion& from = turning.start;
    const MotionTangent& d = turning.of_start;
    memory.s = now_->state.memory[strand.index].s;
    const Vector3d arm = 0.5 * (from.arm + along_with_carrier(to, from, to.arm)), way = travel(from, to, arm);
    const Tangent darm = 0.5 * (d.arm + differentiate_along(to, from, to.arm, at, d, at.arm));
    ds = differentiate_carry(way, from, to, memory, d, at, differentiate_travel(from, to, arm, d, at, darm), d.s);
    carry(way, from, to, memory);
    return memory;
  }
  const Motion& from = strand.motion;
  const MotionTangent& d = turning.ahead;
  const Tangent stretched = in_world_axes(resolver_.stretch(k), memory.s, turning.theta);
  if (memory.slipping()) {
    ds = differentiate_carry(Vector3d::Zero(), from, to, memory, d, at, Tangent::Zero(3, to_.size), stretched);
    turn(from, to, memory);
    return memory;
  }
  const Vector3d moved = resolver->moved(k), way = travel(from, to, from.arm) - moved;
  const Tangent dway =
      differentiate_travel(from, to, from.arm, d, at, d.arm) - in_world_axes(resolver_.moved(k), moved, turning.theta);
  ds = differentiate_carry(way, from, to, memory, d, at, dway, stretched);
  carry(way, from, to, memory);
  return memory;
}

void ExpoTangent::stretch_turning(const RobotData& data, const StrandList& strands, const Resolver* resolver,
                                  std::size_t contact, const Instant& next) {
  const Memory& committed = next.state.memory[contact];
  const Motion& to = next.motions[contact];
  const std::size_t point = world_->point_of(contact, committed);
  const ContactPoint shape = world_->shape(point);
  if (to.slides || !world_->surface(committed.surface).is_exact()) return give_up();
  MotionTangent at;
  differentiate_motion(*world_, data, movers_, {shape.joint, shape.position}, committed.surface, to, dq_next_, dv_next_,
                       false, at);
  Tangent ds = Tangent::Zero(3, to_.size);
  Memory before;
  const Tangent* material = nullptr;
  for (const Turning& each : turning_) {
    const Strand& strand = strands.all()[each.strand];
    const bool same = strand.index == contact || strand.index == Strand::kNone;
    if (!same || strand.point != point || strand.memory.surface != committed.surface) continue;
    before = carried_turning(strand, each, resolver, to, at, ds);
    if (!system_.materials.empty()) material = &system_.materials[each.strand];
  }
  const Tangent theta = at.turn(to);
  PointAt end;
  end.c = to.n * at.phi;
  end.dp = in_turning_axes(at.dp, to.dp, theta);
  ds = in_turning_axes(ds, before.s, theta);
  commit(to, before, committed, world_->law(contact, committed), end, material, ds);
  to_.put(in_world_axes(ds, committed.s, theta), all_.stretch(contact), out_->next);
}

}  // namespace exposim
