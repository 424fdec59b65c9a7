// Derivatives of a step of Expo where forces are held, and what multiplies them.

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

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
  for (std::size_t k = 0; row(k) < y.rows(); ++k) {
    if (!asked_(k)) continue;
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
  if (!local_q_) return add_sparse(A, strands, system_.dq, y);
  if (!strands) return add_by_local_q(A, y);
  asked_.for_each(y.rows(), [&](Index first, Index rows) { add_by_local_q(A, first, rows, y); });
}

void ExpoTangent::add_by_local_q(const RowMatrixXd& A, Index from, Index rows, Tangent& y) const {
  const double* const by = A.data() + from * A.cols();
  double* const to = y.data() + from * y.cols();
  Index done = 0;
  const auto add_joints = [&](Index end) {
    if (end == done) return;
    const double by_v = system_.dq(done, to_.v(done));
    add_rows_twice(rows, end - done, A.cols(), by + done, y.cols(), to + to_.q(done), by_v, to + to_.v(done));
  };
  for (const std::size_t i : world_->robot().tree().free_bodies) {
    const Index first = world_->robot().tree().joints[i].in_v;
    add_joints(first);
    for (const Index column : {to_.q(first), to_.v(first)}) {
      add_product6(rows, A.cols(), by + first, system_.dq.cols(), system_.dq.row(first).data() + column, y.cols(),
                   to + column);
    }
    done = first + 6;
  }
  add_joints(to_.nv);
}

void ExpoTangent::add_by_v(const RowMatrixXd& A, const StrandList* strands, Tangent& y) const {
  if (!local_v_) return add_sparse(A, strands, dv_mid_, y);
  const auto add = [&](Index first, Index rows) {
    y.block(first, to_.v(0), rows, to_.nv) += A.middleRows(first, rows);
  };
  strands ? asked_.for_each(y.rows(), add) : add(0, y.rows());
}

void ExpoTangent::add_by_q_and_v(const RowMatrixXd& by_q, const RowMatrixXd& by_v, const StrandList* strands,
                                 Tangent& y) {
  if (!q_of_way_ || !v_of_way_) {
    add_by_q(by_q, strands, y);
    return add_by_v(by_v, strands, y);
  }
  by_way_ = 0.5 * by_q + 1.0 / dt_ * by_v;
  y.middleCols(to_.q(0), to_.nv) += by_q;
  for (std::size_t i = 0; i < half_ways_.size(); ++i) {
    const Index first = world_->robot().tree().joints[world_->robot().tree().free_bodies[i]].in_v;
    const auto free = by_q.middleCols<6>(first);
    const Eigen::Matrix<double, 6, 6> same = Eigen::Matrix<double, 6, 6>::Identity();
    by_way_.middleCols<6>(first) += 0.5 * free * (half_ways_[i].by_dq - same);
    y.middleCols<6>(to_.q(first)) += free * (half_ways_[i].by_q - same);
  }
  add_sparse(by_way_, strands, dway_, y);
}

void ExpoTangent::add_by_any_q(const RowMatrixXd& A, Index first, Index rows, Tangent& y) const {
  if (local_q_) return add_by_local_q(A, first, rows, y);
  double* const to = y.data() + first * y.cols();
  multiply_rows(rows, to_.nv, y.cols(), y.cols(), A.data() + first * A.cols(), A.cols(), system_.dq.data(), to, to);
}

void ExpoTangent::add_forces(const StrandList& strands, const VectorXd& lam) {
  for (std::size_t k = 0; row(k) < lam.size(); ++k) {
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) continue;
    dynamics_.add_force(strand.a, c_mid_[k], strand.motion.arm, lam.segment<3>(row(k)), Vector3d::Zero());
  }
  add_reactions(strands, lam);
}

void ExpoTangent::put_accelerations(const StrandList& strands, Index rows, RowMatrixXd* by_v) {
  for (RowMatrixXd* each : {&by_acceleration_, &by_position_, by_v}) {
    if (each) clear(*each, rows, to_.nv);
  }
  for (std::size_t k = 0; row(k) < rows; ++k) {
    if (!asked_(k)) continue;
    const Strand& strand = strands.all()[k];
    if (is_limit(strand)) {
      by_acceleration_(row(k), static_cast<Index>(strand.b)) = 1.0;
    } else {
      dynamics_.put_acceleration(strand.a, c_mid_[k], strand.motion.arm, row(k), by_acceleration_, by_position_, by_v);
    }
  }
}

void ExpoTangent::hold_forces(RobotData& data, const StrandList& strands, const VectorXd& a, const VectorXd& lam,
                              Tangent& da, Tangent& ddp) {
  dynamics_.begin(data, a);
  add_forces(strands, lam);
  for (const ExternalWrench& wrench : input_->wrenches) {
    dynamics_.add_force(wrench.joint, world_position(data, wrench.joint, wrench.position), Vector3d::Zero(),
                        wrench.force, wrench.torque);
  }
  dynamics_.compute(by_q_, &by_v_);
  slide_reactions(strands, lam);
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_.leftCols(to_.nv);
  scale(-1.0, dforce_, da);
  if (out_->wrenches > 0) da.middleCols(to_.wrenches, by_wrenches_.cols()) -= by_wrenches_;
  add_by_masses(data, a, da);
  add_by_q_and_v(by_q_, by_v_, nullptr, da);
  turn_forces(strands, lam, da);
  const Index m = lam.size();
  put_accelerations(strands, m, &by_velocity_);
  if (at_mean_of_ends()) {
    mean_of_ends_.take(data, factor_, dt_, by_v_, by_velocity_, by_acceleration_);
    mean_of_ends_.accelerate(da);
  } else {
    factor_.solve_rows(to_.size, da.data(), -1.0);
  }
  clear(ddp, m, to_.size);
  add_sparse(by_acceleration_, &strands, da, ddp);
  add_by_q_and_v(by_position_, by_velocity_, &strands, ddp);
  turn_accelerations(data, strands, da, ddp);
}

void ExpoTangent::add_change_of_response(const StrandList& strands, const VectorXd& a, const VectorXd& f, Tangent& da,
                                         double factor, Tangent* ddp) {
  dynamics_.begin_at_rest(a);
  add_forces(strands, f);
  dynamics_.compute(by_q_, nullptr);
  slide_reactions(strands, f);
  if (!fits_.all.empty()) by_q_.noalias() += a.asDiagonal() * X_by_q_.leftCols(to_.nv);
  // By q alone: as many columns as there are degrees of freedom.
  clear(response_by_q_, to_.nv, padded(to_.nv));
  response_by_q_.leftCols(to_.nv) = -by_q_;
  const bool turns = !turning_.empty();
  if (ddp && turns) subtract_change_of_Upsilon(-factor * f, *ddp);
  if (ddp && !turns) {
    put_accelerations(strands, ddp->rows(), nullptr);
    clear(accelerations_by_q_, ddp->rows(), response_by_q_.cols());
    accelerations_by_q_.leftCols(to_.nv) = by_position_;
    const MatrixXd& response = compliance_.response();
    const Index length = response_by_q_.cols();
    asked_.for_each(ddp->rows(), [&](Index first, Index rows) {
      double* const to = accelerations_by_q_.row(first).data();
      multiply_rows(rows, to_.nv, length, length, response.col(first).data(), to_.nv, response_by_q_.data(), to, to);
      if (factor != 1.0) accelerations_by_q_.middleRows(first, rows) *= factor;
      add_by_any_q(accelerations_by_q_, first, rows, *ddp);
    });
  }
  factor_.solve_rows(response_by_q_.cols(), response_by_q_.data());
  add_by_any_q(response_by_q_, 0, to_.nv, da);
  if (!turns && masses_.empty()) return;
  Tangent rest = Tangent::Zero(to_.nv, to_.size);
  add_by_masses(a, rest);
  turn_forces(strands, f, rest);
  factor_.solve_rows(to_.size, rest.data(), -1.0);
  da += rest;
  if (ddp && !turns) add_sparse(factor * by_acceleration_, &strands, rest, *ddp);
}

void ExpoTangent::subtract_response(const RobotData& data, const StrandList& strands, const VectorXd& f, Tangent& ddp) {
  if (turning_.empty()) {
    clear(moved_, to_.nv, to_.size);
    return add_change_of_response(strands, compliance_.response().leftCols(f.size()) * f, f, moved_, -1.0, &ddp);
  }
  update_compliance_derivatives(data);
  VectorXd all = VectorXd::Zero(compliance_.Upsilon().rows());
  all.head(f.size()) = f;
  ddp -= system_.change_of(all).topRows(ddp.rows());
}

}  // namespace exposim
