#include "exposim/integrators/expo_tangent.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Matrix3d plane_of(const Vector3d& n) { return Matrix3d::Identity() - n * n.transpose(); }

}  // namespace

bool ExpoTangent::supports(const World& world) {
  return has_motion_derivatives(world.robot()) && world.bonds().empty() && !world.has_curved_servos() &&
         !world.has_curved_grips();
}

void ExpoTangent::start(const World& world, StepTangent& out, bool all_strands) {
  world_ = &world;
  out_ = &out;
  all_ = Directions(world, out.forces, out.wrenches, out.parameters.size());
  supported_ = true;
  all_strands_ = all_strands;
  missed_strand_ = false;
  parted_ = false;
  grazing_of_parts_.clear();
}

Tangent ExpoTangent::start_velocity() const {
  Tangent dv;
  clear(dv, to_.nv, to_.size);
  add_start_velocity(1.0, dv);
  return dv;
}

void ExpoTangent::add_start_velocity(double factor, Tangent& to) const {
  for (Index i = 0; i < to_.nv; ++i) to(i, to_.v(i)) += factor;
}

void ExpoTangent::begin(RobotData& data, const Instant& now, const Input& input, const StrandList& strands, double dt) {
  now_ = &now;
  input_ = &input;
  dt_ = dt;
  const State& state = now.state;
  const auto turns = [&](std::size_t contact) { return may_turn(state.memory[contact].surface); };
  to_ = CountingDirections(all_, *world_, now, out_->parameters.size(), turns);
  update_kinematics(data, state.q, state.v);
  update_movers(data, movers_);
  const std::size_t count = strands.all().size();
  starts_.resize(count);
  clear(dphi_, static_cast<Index>(count), to_.size);
  for (Tangent* each : {&system_.delta, &system_.dp, &delta_dp_}) clear(*each, row(count), to_.size);
  turning_.clear();
  system_.turns.resize(0, to_.size);
  for (std::size_t k = 0; k < count; ++k) {
    const Strand& strand = strands.all()[k];
    const Motion& motion = strand.motion;
    PointAt& at = starts_[k];
    for (Tangent* each : {&at.c, &at.turn, &at.dp}) clear(*each, 3, to_.size);
    if (!is_limit(strand) && may_turn(strand.memory.surface)) {
      begin_turning(data, strands, k);
      continue;
    }
    const Vector3d& n = motion.n;
    const bool bound = strand.memory.mode == Mode::kBound, slips = strand.memory.slipping();
    auto phi = dphi_.row(static_cast<Index>(k));
    auto delta = system_.delta.middleRows<3>(row(k)), dp = system_.dp.middleRows<3>(row(k));
    auto rates = delta_dp_.middleRows<3>(row(k));
    const auto put_rate = [&](Index column, const Vector3d& x) {
      at.dp.col(column) = dp.col(column) = x;
      rates.col(column) = slips ? Vector3d(n.dot(x) * n) : x;
    };
    const auto put_gap = [&](Index column, double x) {
      phi(column) = x;
      if (!bound) delta.col(column) = x * n;
    };
    if (is_limit(strand)) {
      const auto dof = static_cast<Index>(strand.b);
      put_gap(to_.q(dof), n.x());
      put_rate(to_.v(dof), Vector3d::UnitX());
      continue;
    }
    update_point_tangent(data, movers_, strand.a, strand.position, motion.arm, point_);
    for (std::size_t i = 0; i < point_.dofs->size(); ++i) {
      const Index dof = (*point_.dofs)[i], column = static_cast<Index>(i);
      at.c.col(to_.q(dof)) = point_.position_by_q.col(column);
      at.turn.col(to_.q(dof)) = point_.J_omega.col(column);
      put_gap(to_.q(dof), n.dot(point_.position_by_q.col(column)));
      put_rate(to_.q(dof), point_.velocity_by_q.col(column));
      put_rate(to_.v(dof), point_.J.col(column));
    }
    if (strand.memory.active()) {
      to_.add_stretch(strand.index, bound ? Matrix3d(Matrix3d::Identity()) : plane_of(n), delta);
    }
  }
  dv_mid_ = start_velocity();
  local_v_ = true;
  foreseen_ = true;
  waits_ = repeats_ = false;
  q_of_way_ = v_of_way_ = false;
  asked_.all();
  begin_masses();
  begin_materials(strands);
}

void ExpoTangent::take_terms(const RobotData& data, const StrandList& strands, const JointTerms& joints, At at,
                             const VectorXd& dq) {
  if (strands.all().size() > starts_.size()) add_strands(strands);
  if (at != At::kAsBefore) place_terms(at, dq);
  if (system_.turns.rows() > 0) {
    system_.dq_turns.resize(coordinates() + system_.turns.rows(), to_.size);
    system_.dq_turns.topRows(to_.nv) = system_.dq.topRows(to_.nv);
    system_.dq_turns.middleRows(to_.nv, system_.turns.rows()) = system_.turns;
    system_.dq_turns.bottomRows(coordinates() - to_.nv) = system_.dq.bottomRows(coordinates() - to_.nv);
  }
  update_movers(data, movers_mid_);
  for (Mass& mass : masses_) mass.changes = in_world(data, mass.of_bodies);
  take_fits(data, joints);
  if (out_->wrenches > 0) forces_of_wrenches(data, movers_mid_, input_->wrenches, by_wrenches_);
  system_.dofs.clear();
  c_mid_.clear();
  for (const Strand& strand : strands.all()) {
    c_mid_.push_back(is_limit(strand) ? Vector3d(Vector3d::Zero()) : world_position(data, strand.a, strand.position));
  }
  add_rows(data, strands, counted(strands, 0));
  update_turning(data, strands);
  factor_ = data.factor();
  dynamics_.take_terms(data);
}

void ExpoTangent::place_terms(At at, const VectorXd& dq) {
  const Tree& tree = world_->robot().tree();
  local_q_ = at != At::kHalfOfWay;
  q_of_way_ = !local_q_;
  half_ways_.clear();
  clear(system_.dq, coordinates(), to_.size);
  if (at == At::kHalfOfVelocity) add_start_velocity(0.5 * dt_, system_.dq);
  if (at == At::kHalfOfWay) {
    const double* const way = dway_.data();
    constexpr double kHalf = 0.5;
    sum_rows(dway_.size(), 1, &kHalf, &way, system_.dq.data());
  }
  if (at != At::kStart) {
    for (const std::size_t i : tree.free_bodies) {
      const Index first = tree.joints[i].in_v;
      const MoveDerivatives& move = half_ways_.emplace_back(free_move_derivatives(dq.segment<6>(first)));
      auto moved = system_.dq.middleRows<6>(first);
      if (local_q_) {
        moved.middleCols<6>(to_.v(first)) *= move.by_dq;  // of a multiple of the identity
      } else {
        six_ = moved;
        const RowMatrixXd by_dq = move.by_dq;
        multiply_rows(6, 6, to_.size, to_.size, by_dq.data(), 6, six_.data(), nullptr, moved.data());
      }
      moved.middleCols<6>(to_.q(first)) += move.by_q - Eigen::Matrix<double, 6, 6>::Identity();
    }
  }
  for (Index i = 0; i < to_.nv; ++i) system_.dq(i, to_.q(i)) += 1.0;
  for (std::size_t k = 0; k < masses_.size(); ++k) {
    system_.dq(to_.nv + static_cast<Index>(k), masses_[k].direction) = 1.0;
  }
}

void ExpoTangent::take_velocity_of_way() {
  if (!foreseen_) return;
  scale(1.0 / dt_, dway_, dv_mid_);
  local_v_ = false;
  v_of_way_ = true;
}

void ExpoTangent::take_mean_velocity() {
  v_of_way_ = false;
  repeats_ = true;
  if (waits_) return restart_velocity();
  scale(0.5, dv_next_, dv_mid_);
  add_start_velocity(0.5, dv_mid_);
  local_v_ = false;
}

void ExpoTangent::know(const RobotData& data, const StrandList& strands, std::size_t count) {
  if (known_ < count) add_rows(data, strands, count);
}

void ExpoTangent::add_rows(const RobotData& data, const StrandList& strands, std::size_t count) {
  compliance_.clear();
  for (std::size_t k = 0; k < count; ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) {
      compliance_.add_dof(static_cast<Index>(strand.b), 3);
    } else if (strand.motion.curved || strand.motion.carried) {
      compliance_.add_turning(strand.a, strand.position, strand.motion.arm, strand.motion.carried ? strand.b : 0);
    } else {
      compliance_.add_point(strand.a, strand.position, strand.motion.arm);
    }
  }
  for (const Index dof : system_.dofs) compliance_.add_dof(dof);
  compliance_.compute(data, movers_mid_);
  known_ = count;
  has_compliance_derivatives_ = false;
}

void ExpoTangent::update_compliance_derivatives(const RobotData& data) {
  if (has_compliance_derivatives_) return;
  has_compliance_derivatives_ = true;
  differentiate(data, compliance_);
}

void ExpoTangent::differentiate(const RobotData& data, TurningCompliance& compliance) {
  compliance.differentiate(data, movers_mid_, system_.Upsilon_by_q);
  const MatrixXd& response = compliance.response();
  const std::size_t first_mass = system_.Upsilon_by_q.size();
  for (const Mass& mass : masses_) {
    system_.Upsilon_by_q.push_back(-products_by_inertia(world_->robot(), movers_mid_, response, mass.changes));
  }
  if (fits_.all.empty()) return;
  for (Index k = 0; k < coordinates(); ++k) {
    const auto which = static_cast<std::size_t>(k < to_.nv ? k : k - to_.nv) + (k < to_.nv ? 0 : first_mass);
    system_.Upsilon_by_q[which].noalias() -= response.transpose() * X_by_q_.col(k).asDiagonal() * response;
  }
}

void ExpoTangent::subtract_change_of_Upsilon(const VectorXd& f, Tangent& from) const {
  if (!out_->exact || !has_compliance_derivatives_) return;
  const Index rows = from.rows(), used = f.size();
  RowMatrixXd by_q(rows, static_cast<Index>(system_.Upsilon_by_q.size()));
  VectorXd changed(rows);
  for (Index k = 0; k < by_q.cols(); ++k) {
    const MatrixXd& each = system_.Upsilon_by_q[static_cast<std::size_t>(k)];
    changed.noalias() = each.topLeftCorner(rows, used) * f.head(used);
    by_q.col(k) = -changed;
  }
  add_by_moves(by_q, from);
}

}  // namespace exposim
