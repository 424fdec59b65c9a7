#include "exposim/integrators/expo_tangent.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

bool ExpoTangent::supports(const World& world) {
  return has_motion_derivatives(world.robot()) && world.bonds().empty() && !world.has_curved_servos() &&
         !world.has_curved_grips();
}

void ExpoTangent::start(const World& world, StepTangent& out) {
  world_ = &world;
  out_ = &out;
  to_ = Directions(world, out.wrenches, out.parameters.size());
  supported_ = true;
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
    auto phi = dphi_.row(static_cast<Index>(k));
    if (is_limit(strand)) {
      const auto dof = static_cast<Index>(strand.b);
      phi(to_.q(dof)) = motion.n.x();
      at.dp(0, to_.v(dof)) = 1.0;
    } else {
      update_point_tangent(data, movers_, strand.a, strand.position, motion.arm, point_);
      for (std::size_t i = 0; i < point_.dofs->size(); ++i) {
        const Index dof = (*point_.dofs)[i], column = static_cast<Index>(i);
        at.c.col(to_.q(dof)) = point_.position_by_q.col(column);
        at.turn.col(to_.q(dof)) = point_.J_omega.col(column);
        at.dp.col(to_.q(dof)) = point_.velocity_by_q.col(column);
        at.dp.col(to_.v(dof)) = point_.J.col(column);
      }
      phi = motion.n.transpose() * at.c;
    }
    auto delta = system_.delta.middleRows<3>(row(k));
    const bool bound = strand.memory.mode == Mode::kBound;
    if (!bound) delta = motion.n * phi;
    if (!is_limit(strand) && strand.memory.active()) {
      const Matrix3d plane = Matrix3d::Identity() - motion.n * motion.n.transpose();
      delta.middleCols<3>(to_.stretch(strand.index)) += bound ? Matrix3d(Matrix3d::Identity()) : plane;
    }
    system_.dp.middleRows<3>(row(k)) = at.dp;
    if (strand.memory.slipping()) {
      delta_dp_.middleRows<3>(row(k)) = motion.n * (motion.n.transpose() * at.dp);
    } else {
      delta_dp_.middleRows<3>(row(k)) = at.dp;
    }
  }
  dv_mid_ = start_velocity();
  local_v_ = true;
  begin_masses();
  begin_materials(strands);
}

void ExpoTangent::take_terms(const RobotData& data, const StrandList& strands, const JointTerms& joints, At at,
                             const VectorXd& dq) {
  const Tree& tree = world_->robot().tree();
  // dq of the start, and of what it is moved by.
  if (strands.all().size() > starts_.size()) add_strands(strands);
  Tangent by;
  clear(by, to_.nv, to_.size);
  if (at == At::kHalfOfVelocity) add_start_velocity(0.5 * dt_, by);
  if (at == At::kHalfOfWay) by = 0.5 * dway_;
  if (at != At::kAsBefore) {
    local_q_ = at != At::kHalfOfWay;
    clear(system_.dq, coordinates(), to_.size);
    system_.dq.topRows(to_.nv) = by;
    for (Index i = 0; i < to_.nv; ++i) system_.dq(i, to_.q(i)) += 1.0;
    for (std::size_t k = 0; k < masses_.size(); ++k) {
      system_.dq(to_.nv + static_cast<Index>(k), masses_[k].direction) = 1.0;
    }
  }
  if (at == At::kHalfOfVelocity || at == At::kHalfOfWay) {
    integrate_derivatives(world_->robot(), now_->state.q, dq, A0_, A1_);
    for (const std::size_t i : tree.free_bodies) {
      const Index first = tree.joints[i].in_v;
      auto moved = system_.dq.middleRows<6>(first);
      moved = A1_.block<6, 6>(first, first) * by.middleRows<6>(first);
      moved.middleCols<6>(to_.q(first)) += A0_.block<6, 6>(first, first);
    }
  }
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
  add_rows(data, strands);
  factor_ = data.factor();
  dynamics_.take_terms(data);
}

void ExpoTangent::add_rows(const RobotData& data, const StrandList& strands) {
  compliance_.clear();
  c_mid_.clear();
  for (const Strand& strand : strands.all()) {
    if (is_limit(strand)) {
      compliance_.add_dof(static_cast<Index>(strand.b), 3);
      c_mid_.emplace_back(Vector3d::Zero());
    } else {
      if (strand.motion.curved || strand.motion.carried) {
        compliance_.add_turning(strand.a, strand.position, strand.motion.arm, strand.motion.carried ? strand.b : 0);
      } else {
        compliance_.add_point(strand.a, strand.position, strand.motion.arm);
      }
      c_mid_.push_back(world_position(data, strand.a, strand.position));
    }
  }
  for (const Index dof : system_.dofs) compliance_.add_dof(dof);
  compliance_.compute(data, movers_mid_, nullptr);
  update_turning(data, strands);
  has_compliance_derivatives_ = false;
}

void ExpoTangent::update_compliance_derivatives(const RobotData& data) {
  if (has_compliance_derivatives_) return;
  has_compliance_derivatives_ = true;
  compliance_.compute(data, movers_mid_, &system_.Upsilon_by_q);
  const MatrixXd& response = compliance_.response();
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

VectorXd ExpoTangent::free_acceleration(const RobotData& data, const StiffSystem& system) const {
  VectorXd a = system.w();
  solve_Lt_in_place(data, a);
  return a;
}

void ExpoTangent::add_sparse(const RowMatrixXd& A, const StrandList* strands, const Tangent& x, Tangent& y) const {
  if (!strands) {
    if (fits_.all.empty() && !has_pairs()) return factor_.add_product(A.data(), x.cols(), x.data(), y.data());
    return add_product(A, x, y);
  }
  for (std::size_t k = 0; k < strands->all().size(); ++k) {
    const Strand& strand = strands->all()[k];
    const auto dof = static_cast<Index>(strand.b);
    if (is_limit(strand)) {
      y.row(row(k)) += A(row(k), dof) * x.row(dof);
      continue;
    }
    for (Index i = row(k); i < row(k) + 3; ++i) {
      sum_.add(1.0, y.row(i).data());
      for (const Index each : world_->robot().supports(strand.a)) sum_.add(A(i, each), x.row(each).data());
      sum_.into(x.cols(), y.row(i).data());
    }
  }
}

void ExpoTangent::add_by_moves(const RowMatrixXd& A, Tangent& y) const {
  if (!local_q_) return add_product(A, system_.moves(), y);
  add_by_local_q(A, y);
  if (const Index more = A.cols() - to_.nv; more > 0) {
    add_product(A.rightCols(more), system_.moves().bottomRows(more), y);
  }
}

void ExpoTangent::add_by_q(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const {
  local_q_ ? add_by_local_q(A, y) : add_sparse(A, strands, system_.dq, y);
}

void ExpoTangent::add_by_local_q(const RowMatrixXd& A, Tangent& y) const {
  const auto add_joints = [&](Index first, Index end) {
    if (end == first) return;
    const auto from = A.middleCols(first, end - first);
    y.middleCols(to_.q(first), end - first) += from;
    const double by_v = system_.dq(first, to_.v(first));
    if (by_v != 0.0) y.middleCols(to_.v(first), end - first) += by_v * from;
  };
  Index done = 0;
  for (const std::size_t i : world_->robot().tree().free_bodies) {
    const Index first = world_->robot().tree().joints[i].in_v;
    add_joints(done, first);
    const auto from = A.middleCols<6>(first);
    for (const Index column : {to_.q(first), to_.v(first)}) {
      y.middleCols<6>(column).noalias() += from.lazyProduct(system_.dq.block<6, 6>(first, column));
    }
    done = first + 6;
  }
  add_joints(done, to_.nv);
}

void ExpoTangent::add_by_v(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const {
  if (!local_v_) return add_sparse(A, strands, dv_mid_, y);
  y.middleCols(to_.v(0), to_.nv) += A;
}

void ExpoTangent::hold_forces(RobotData& data, const StrandList& strands, const VectorXd& a, const VectorXd& lam,
                              Tangent& da, Tangent& ddp) {
  dynamics_.begin(data, a);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) continue;
    dynamics_.add_force(strand.a, c_mid_[k], strand.motion.arm, lam.segment<3>(row(k)), Vector3d::Zero());
  }
  add_reactions(strands, lam);
  for (const ExternalWrench& wrench : input_->wrenches) {
    dynamics_.add_force(wrench.joint, world_position(data, wrench.joint, wrench.position), Vector3d::Zero(),
                        wrench.force, wrench.torque);
  }
  dynamics_.compute(by_q_, &by_v_);
  slide_reactions(strands, lam);
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_.leftCols(to_.nv);
  da.resize(to_.nv, to_.size);
  RowSum sum(to_.size);
  for (Index i = 0; i < to_.nv; ++i) sum.add(-1.0, dforce_.row(i).data()).into(da.row(i).data());
  if (out_->wrenches > 0) da.middleCols(to_.wrenches, by_wrenches_.cols()) -= by_wrenches_;
  add_by_masses(data, a, da);
  add_by_q(by_q_, nullptr, da);
  add_by_v(by_v_, nullptr, da);
  turn_forces(strands, lam, da);
  factor_.solve_rows(to_.size, da.data(), -1.0);

  const Index m = row(strands.all().size());
  for (RowMatrixXd* each : {&by_acceleration_, &by_position_, &by_velocity_}) clear(*each, m, to_.nv);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) {
      by_acceleration_(row(k), static_cast<Index>(strand.b)) = 1.0;
    } else {
      dynamics_.put_acceleration(strand.a, c_mid_[k], strand.motion.arm, row(k), by_acceleration_, by_position_,
                                 by_velocity_);
    }
  }
  clear(ddp, m, to_.size);
  add_sparse(by_acceleration_, &strands, da, ddp);
  add_by_q(by_position_, &strands, ddp);
  add_by_v(by_velocity_, &strands, ddp);
  turn_accelerations(data, strands, da, ddp);
}

void ExpoTangent::hold_response(const StrandList& strands, const VectorXd& a, const VectorXd& f, Tangent& da) {
  dynamics_.begin_at_rest(a);
  for (std::size_t k = 0; k < strands.all().size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) continue;
    dynamics_.add_force(strand.a, c_mid_[k], strand.motion.arm, f.segment<3>(row(k)), Vector3d::Zero());
  }
  add_reactions(strands, f);
  dynamics_.compute(by_q_, nullptr);
  slide_reactions(strands, f);
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_.leftCols(to_.nv);
  clear(da, to_.nv, to_.size);
  add_by_masses(a, da);
  add_by_q(by_q_, nullptr, da);
  turn_forces(strands, f, da);
  factor_.solve_rows(to_.size, da.data(), -1.0);
}

}  // namespace exposim
