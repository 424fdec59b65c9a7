// Derivatives of how a step of Expo moves the robot, and makes it agree with contact space.

#include <Eigen/Geometry>
#include <algorithm>

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
/// Adds A times the same of rows.
void add_at_lever(const Matrix3d& A, const Tangent& dv, Index in_v, const Vector3d& lever, Rows3Sum& sum) {
  sum.add(A, rows3(dv, in_v)).add(-A * skew(lever), rows3(dv, in_v + 3));
}

}  // namespace

void ExpoTangent::move(const RobotData& data, const VectorXd& v, const State& next, const VectorXd& way) {
  const Robot& robot = world_->robot();
  scale(0.5 * dt_ * dt_, da2_, dq_next_);
  add_start_velocity(dt_, dq_next_);
  displace(a_.col(1), da2_, dq_next_);
  scale(dt_, da_, dv_next_);
  add_start_velocity(1.0, dv_next_);
  moved_.resize(to_.nv, to_.size);
  for (const std::size_t i : robot.tree().free_bodies) {
    const Index turn = robot.tree().joints[i].in_v + 3;
    moved_.middleRows<3>(turn) = dq_next_.middleRows<3>(turn);
  }
  for (Index i = 0; i < to_.nv; ++i) dq_next_(i, to_.q(i)) += 1.0;
  for (const std::size_t i : robot.tree().free_bodies) move_free_body(data, i, v, next, way);
}

void ExpoTangent::move_free_body(const RobotData& data, std::size_t body, const VectorXd& v, const State& next,
                                 const VectorXd& way) {
  const State& start = now_->state;
  const TreeJoint& joint = world_->robot().tree().joints[body];
  const Index in_v = joint.in_v, turn = in_v + 3;
  const Matrix3d R0 = rotation_at(start.q, joint.in_q), R1 = rotation_at(next.q, joint.in_q);
  const Matrix3d R = R1.transpose() * joint.turn.matrix().transpose() * data.tree().bodies[body].R.matrix();
  const MoveDerivatives by = free_move_derivatives(way.segment<6>(in_v));
  Rows3Sum sum(to_.size);
  const Rows3 dturn = rows3(dq_next_, turn);
  sum.add(by.by_dq.bottomRightCorner<3, 3>(), rows3(moved_, turn)).into(dturn);
  dq_next_.block<3, 3>(turn, to_.q(turn)) += by.by_q.bottomRightCorner<3, 3>();
  // As the world sees it: c̈ = R (a + ω × v), ċ = R₀ v₀, of the point at a lever from the origin.
  const Vector3d lever = joint.lever, w = v.segment<3>(turn);
  const Vector3d u = at_lever(v, in_v, lever), u0 = at_lever(start.v, in_v, lever), u1 = at_lever(next.v, in_v, lever);
  const Matrix3d arm = skew(lever), R10 = R1.transpose() * R0;
  const auto add_acceleration = [&](double factor, Index column, const Tangent& da) {
    const Vector3d a = at_lever(VectorXd(a_.col(column)), in_v, lever) + w.cross(u);
    add_at_lever(factor * R, da, in_v, lever, sum);
    add_at_lever(factor * R * skew(w), dv_mid_, in_v, lever, sum);
    sum.add(-factor * R * skew(u), rows3(dv_mid_, turn)).add(-factor * R * skew(a), rows3(system_.dq, turn));
  };
  const auto add_velocity = [&](double factor, Tangent& to) {  // of the start
    to.block<3, 3>(in_v, to_.v(in_v)) += factor * R10;
    to.block<3, 3>(in_v, to_.v(turn)) -= factor * R10 * arm;
    to.block<3, 3>(in_v, to_.q(turn)) -= factor * R10 * skew(u0);
  };
  add_acceleration(0.5 * dt_ * dt_, 1, da2_);
  sum.add(arm, dturn).into(rows3(dq_next_, in_v));
  add_velocity(dt_, dq_next_);
  dq_next_.block<3, 3>(in_v, to_.q(in_v)) += R10;
  dq_next_.block<3, 3>(in_v, to_.q(turn)) -= R10 * arm;
  add_acceleration(dt_, 0, da_);
  sum.add(skew(u1), dturn).add(arm, rows3(dv_next_, turn)).into(rows3(dv_next_, in_v));
  add_velocity(1.0, dv_next_);
}

void ExpoTangent::compare(const RobotData& data, const StrandList& strands, std::size_t k) {
  const Strand& strand = strands.all()[k];
  if (const Turning* const each = turning(k)) {
    return compare_turning(data, strand, *each, off_.middleRows<3>(row(k)), doff_.middleRows<3>(row(k)));
  }
  const Motion& start = strand.motion;
  update_point(data, strand.a, strand.position, start.arm, dq_next_, &dv_next_, at_end_);
  const Rows3 way = rows3(way_target_, row(k)), dp = rows3(dp_target_, row(k));
  const Rows3 off = rows3(off_, row(k)), doff = rows3(doff_, row(k)), at_end = rows3(at_end_.dp, 0);
  const Motion end = contact_motion(*world_, data, strand.point, strand.memory.surface);
  const Mode mode = modes_[k];
  const Matrix3d all = Matrix3d::Identity(), along = start.n * start.n.transpose();
  Rows3Sum sum(to_.size);
  const bool follows = mode != Mode::kOpen && mode != Mode::kIdle, slips = mode == Mode::kSlipping;
  if (mode != Mode::kBound) sum.add(along, rows3(starts_[k].c, 0)).add(along, way).add(-along, rows3(at_end_.c, 0));
  if (follows && !slips) {
    const Matrix3d rest = mode == Mode::kBound ? all : Matrix3d(all - along);
    sum.add(rest, way);
    add_travelled(-rest, start, end, start.arm, starts_[k], at_end_, sum);
  }
  sum.into(off);
  if (follows) sum.add(slips ? along : all, dp).add(slips ? Matrix3d(-along) : Matrix3d(-all), at_end);
  sum.into(doff);
}

void ExpoTangent::push(const StrandList& strands, const std::vector<AgreementDifference>& differences,
                       const VectorXd& a, const VectorXd& x, const VectorXd& w, const RowMatrixXd& by_change,
                       Tangent& change, Tangent& da) {
  clear(da, to_.nv, to_.size);
  if (a.size() > 0) add_change_of_response(strands, a, w, da, -1.0, out_->exact ? &change : nullptr);
  const bool has_materials = !system_.materials.empty();
  if (has_materials) {
    clear(dQ_, change.rows(), to_.size);
    for (std::size_t k = 0; row(k) < x.size(); ++k) {
      const Vector3d each = x.segment<3>(row(k)), &n = strands.all()[k].motion.n;
      if (differences[k].feels == Feels::kAll) add_change_of_Q(strands, k, dt_, each, dQ_);
      if (differences[k].feels == Feels::kNormal) add_change_of_Q(strands, k, dt_, n.dot(each) * n, dQ_);
    }
    const Index by = to_.size - to_.parameters;
    change.rightCols(by) -= compliance_.Upsilon().topLeftCorner(change.rows(), change.rows()) * dQ_.rightCols(by);
  }
  dw_.resize(change.rows(), to_.size);
  multiply(by_change, change, dw_);
  if (has_materials) dw_.rightCols(to_.size - to_.parameters) += dQ_.rightCols(to_.size - to_.parameters);
  add_product(compliance_.response().leftCols(change.rows()), dw_, da);
}

void ExpoTangent::correct(RobotData& data, const StrandList& strands,
                          const std::vector<AgreementDifference>& differences, const Eigen::MatrixX2d& pushed,
                          const Eigen::MatrixX2d& turned, const VectorXd& q, const State& next) {
  if (!supported_) return;
  std::size_t count = strands.all().size();
  while (count > 0 && turning_.empty() && differences[count - 1].feels == Feels::kNothing) --count;
  const Index m = row(count);
  const bool responds = out_->exact;  // else what is pushed is little
  find_targets();
  bool asked = m <= way_target_.rows();
  for (std::size_t k = 0; k < count; ++k) asked &= asked_(k) || differences[k].feels == Feels::kNothing;
  if (!asked) {
    missed_strand_ = true;
    return give_up();
  }
  update_movers(data, movers_);
  springs_.clear(count);
  clear(off_, m, to_.size);
  clear(doff_, m, to_.size);
  Eigen::MatrixX2d values = Eigen::MatrixX2d::Zero(m, 2);
  for (std::size_t k = 0; k < count; ++k) {
    const AgreementDifference& each = differences[k];
    if (each.feels == Feels::kNothing) continue;
    values.col(0).segment<3>(row(k)) = each.dp;
    values.col(1).segment<3>(row(k)) = each.p;
    springs_.put(k, each.Q);
    compare(data, strands, k);
  }
  springs_.attach(compliance_.Upsilon());
  const RowMatrixXd& by_change = springs_.forces();
  const Eigen::MatrixX2d x = springs_.accelerations().lazyProduct(values), w = by_change.lazyProduct(values);
  const Eigen::MatrixX2d by = responds ? pushed : Eigen::MatrixX2d(0, 2);
  push(strands, differences, by.col(0), x.col(0), w.col(0), by_change, doff_, dv_);
  push(strands, differences, by.col(1), x.col(1), w.col(1), by_change, off_, dq_);
  const Tree& tree = world_->robot().tree();
  for (const std::size_t i : tree.free_bodies) turn_pushed(data, i, pushed);
  combine(1.0, dv_next_, 1.0, dv_, dv_next_);
  six_.resize(6, to_.size);
  for (const std::size_t i : tree.free_bodies) add_pushed(i, turned.col(1), q, next);
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    const TreeJoint& joint = tree.joints[i];
    const bool free = std::find(tree.free_bodies.begin(), tree.free_bodies.end(), i) != tree.free_bodies.end();
    if (!free) dq_next_.middleRows(joint.in_v, joint.nv) += dq_.middleRows(joint.in_v, joint.nv);
  }
}

void ExpoTangent::turn_pushed(const RobotData& data, std::size_t body, const Eigen::MatrixX2d& pushed) {
  const TreeJoint& joint = world_->robot().tree().joints[body];
  const Index in_v = joint.in_v, turn = in_v + 3;
  Matrix3d mid;
  for (Index k = 0; k < 3; ++k) mid.col(k) = movers_mid_[static_cast<std::size_t>(in_v + k)].linear;
  const Matrix3d R = data.tree().bodies[body].R.matrix(), back = R.transpose() * mid;
  const Vector3d lever = joint.lever;
  six_.resize(6, to_.size);
  Rows3Sum sum(to_.size);
  for (const Index column : {0, 1}) {
    Tangent& of = column == 0 ? dv_ : dq_;
    const VectorXd given = pushed.col(column);
    // The push is turned by how the body at its end turns, past where terms were taken.
    const auto add_turn = [&](const Vector3d& x) {
      const Matrix3d by = -R.transpose() * skew(mid * x);
      sum.add(by * mid, rows3(system_.dq, turn)).add(-by * R, rows3(dq_next_, turn));
    };
    sum.add(back, rows3(of, turn));
    add_turn(given.segment<3>(turn));
    sum.into(rows3(six_, 3));
    add_at_lever(back, of, in_v, lever, sum);
    add_turn(at_lever(given, in_v, lever));
    sum.add(skew(lever), rows3(six_, 3)).into(rows3(six_, 0));
    of.middleRows<6>(in_v) = six_;
  }
}

void ExpoTangent::add_pushed(std::size_t body, const VectorXd& turned, const VectorXd& q, const State& next) {
  const TreeJoint& joint = world_->robot().tree().joints[body];
  const Index in_v = joint.in_v, turn = in_v + 3;
  const Matrix3d Rb = rotation_at(q, joint.in_q), Ra = rotation_at(next.q, joint.in_q), back = Ra.transpose() * Rb;
  const Vector3d lever = joint.lever, u = at_lever(next.v, in_v, lever), u_before = back.transpose() * u;
  const MoveDerivatives by = free_move_derivatives(turned.segment<6>(in_v));
  Rows3Sum sum(to_.size);
  const auto add_moved = [&](Index first) {
    for (const Index column : {0, 3}) {
      sum.add(by.by_q.block<3, 3>(first, column), rows3(dq_next_, in_v + column));
      sum.add(by.by_dq.block<3, 3>(first, column), rows3(dq_, in_v + column));
    }
  };
  add_moved(0);
  sum.into(rows3(six_, 0));
  add_moved(3);
  sum.into(rows3(six_, 3));
  add_at_lever(back, dv_next_, in_v, lever, sum);
  sum.add(-back * skew(u_before), rows3(dq_next_, turn)).add(skew(u), rows3(six_, 3));
  sum.add(skew(lever), rows3(dv_next_, turn)).into(rows3(moved_, in_v));
  dv_next_.middleRows<3>(in_v) = moved_.middleRows<3>(in_v);
  dq_next_.middleRows<6>(in_v) = six_;
}

}  // namespace exposim
