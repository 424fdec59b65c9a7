// Derivatives of a step of Expo by averages, by what was followed, and in parts.

#include <Eigen/LU>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void ExpoTangent::average(RobotData& data, const StiffSystem& system, const StrandList& strands,
                          const ForceAverages& averages, const LookAhead* response, const VectorXd& v,
                          const State& next, const VectorXd& way) {
  const std::size_t count = strands.all().size(), active = system.active();
  const Index m = row(active);
  VectorXd lam = VectorXd::Zero(row(count)), lam2 = lam, ddp_bar(row(count));
  for (std::size_t k = 0; k < count; ++k) ddp_bar.segment<3>(row(k)) = system.rows()[k].ddp_bar;
  for (std::size_t k = 0; k < active; ++k) {
    lam.segment<3>(row(k)) = averages.lam_bar(k);
    lam2.segment<3>(row(k)) = averages.lam_bar2(k);
  }
  const VectorXd free = free_acceleration(data, system);
  const MatrixXd &Upsilon = compliance_.Upsilon(), &by_forces = compliance_.response();
  a_.resize(to_.nv, 2);
  a_.col(0) = free + by_forces * lam;
  a_.col(1) = free + by_forces * lam2;
  hold_forces(data, strands, a_.col(0), lam, da_, ddp_);
  if (out_->exact && count > 0) update_compliance_derivatives(data);  // open ones may be corrected
  const Tangent before = response ? system_.ddp_bar : Tangent();
  system_.ddp_bar = ddp_;
  if (active > 0) subtract_change_of_Upsilon(lam, system_.ddp_bar);
  if (active > 0 && !response) {
    const double c = ForceAverages::proportional_damping(system);
    std::vector<AveragesTangent::Holding> holding;
    for (std::size_t k = 0; k < active; ++k) {
      const StiffSystem::Row& each = system.rows()[k];
      holding.push_back({each.K, each.B, each.delta_p, each.delta_dp, each.ddp_bar, strands.all()[k].motion.n});
    }
    const auto differentiate = [&](auto& form) {
      form.differentiate(
          system_.ddp_bar.topRows(m), system_.delta.topRows(m), delta_dp_.topRows(m),
          out_->exact ? &system_.Upsilon_by_q : nullptr,
          [&](const RowMatrixXd& A, Tangent& to) { add_by_moves(A, to); }, system_.materials, dlam_, dlam2_);
    };
    if (c >= 0.0) {
      averages_.begin(Upsilon.topLeftCorner(m, m), holding, c, dt_);
      differentiate(averages_);
    } else {
      if (!uneven_averages_.begin(Upsilon.topLeftCorner(m, m), holding, dt_)) return give_up();
      differentiate(uneven_averages_);
    }
  } else if (active > 0) {
    // −Q(I + ΥQ)⁻¹ Δp̈̄
    MatrixXd Q = MatrixXd::Zero(m, m);
    VectorXd by(m);
    for (std::size_t k = 0; k < active; ++k) {
      Q.block<3, 3>(row(k), row(k)) = response->last()[k].Q;
      by.segment<3>(row(k)) = response->response(k);
    }
    const MatrixXd U = Upsilon.topLeftCorner(m, m);
    const VectorXd whole = ddp_bar.head(m) - ddp_bar_.head(m) + U * by;
    Tangent dQ = Tangent::Zero(m, to_.size);
    for (std::size_t k = 0; k < active; ++k) add_change_of_Q(strands, k, 0.5 * dt_, whole.segment<3>(row(k)), dQ);
    const Tangent change = (system_.ddp_bar - before).topRows(m);
    Tangent rest = -U * (Q * change + dQ);
    subtract_change_of_Upsilon(-by, rest);
    const Tangent alpha = (MatrixXd::Identity(m, m) + U * Q).partialPivLu().solve(MatrixXd(rest));
    const Tangent dby = -Q * (change + alpha) - dQ;
    dlam_ += dby;
    dlam2_ += dby;
  }
  if (active > 0) {
    add_product(by_forces.leftCols(m), dlam_, da_);
    add_product(Upsilon.leftCols(m), dlam_, ddp_);
  }
  hold_forces(data, strands, a_.col(1), lam2, da2_, ddp2_);
  if (active > 0) {
    add_product(by_forces.leftCols(m), dlam2_, da2_);
    add_product(Upsilon.leftCols(m), dlam2_, ddp2_);
  }
  ddp_bar_ = ddp_bar;
  move(data, v, next, way);
}

void ExpoTangent::keep_part() {
  const Index n = to_.forces;
  for (Grazing each : out_->grazing) {
    grazing_of_parts_.push_back(each);
  }
  if (!parted_) {
    parts_ = out_->next;
  } else {
    Tangent joined = product(out_->next.leftCols(n), parts_);
    joined.rightCols(to_.size - n) += out_->next.rightCols(to_.size - n);
    parts_ = joined;
  }
  parted_ = true;
}

void ExpoTangent::join_parts() {
  if (!parted_) return;
  out_->next = parts_;
  out_->grazing = grazing_of_parts_;
}

void ExpoTangent::begin_following(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                  const FollowedDrives& drives, Resolver& resolver) {
  const VectorXd free = free_acceleration(data, system);
  const Index m = row(strands.all().size());
  system_.dofs.clear();
  system_.drives.clear();
  for (std::size_t k = 0; k < drives.size(); ++k) system_.dofs.push_back(drives.drive(k).dof);
  if (!system_.dofs.empty()) add_rows(data, strands);
  hold_forces(data, strands, free, VectorXd::Zero(m), da_, system_.ddp_bar);
  system_.ddp_bar.conservativeResize(m + static_cast<Index>(system_.dofs.size()), to_.size);
  for (std::size_t k = 0; k < system_.dofs.size(); ++k) {
    const Index dof = system_.dofs[k];
    system_.ddp_bar.row(m + static_cast<Index>(k)) = da_.row(dof);
    Tangent& drive = system_.drives.emplace_back(Tangent::Zero(DriveTangent::kRows, to_.size));
    for (const JointTerms::Fitted& each : fits_.all) {
      if (each.dof == dof) add_constant(each, drive.row(DriveTangent::kForce));
    }
    drive.row(DriveTangent::kX) = X_by_q_.row(dof) * system_.dq;
    drive.row(DriveTangent::kFitted) = dforce_.row(dof);
    drive(DriveTangent::kV, to_.v(dof)) = 1.0;
  }
  update_compliance_derivatives(data);
  resolver_.take(system_);
  resolver.differentiate(&resolver_);
}

void ExpoTangent::follow(RobotData& data, const StiffSystem& system, const StrandList& strands,
                         const Resolver& resolver, const FollowedDrives& drives, const VectorXd& v, const State& next,
                         const VectorXd& way) {
  if (!resolver_.supported()) return give_up();
  watch_unknown(resolver);
  const std::size_t count = strands.all().size();
  VectorXd lam(row(count)), lam2 = lam;
  for (Tangent* each : {&dlam_, &dlam2_, &way_target_, &dp_target_}) each->resize(row(count), to_.size);
  modes_.clear();
  for (std::size_t k = 0; k < count; ++k) {
    lam.segment<3>(row(k)) = resolver.lam_bar(k);
    lam2.segment<3>(row(k)) = resolver.lam_bar2(k);
    dlam_.middleRows<3>(row(k)) = resolver_.lam_bar(k);
    dlam2_.middleRows<3>(row(k)) = resolver_.lam_bar2(k);
    way_target_.middleRows<3>(row(k)) = resolver_.moved(k);
    dp_target_.middleRows<3>(row(k)) = resolver_.velocity(k);
    modes_.push_back(resolver.end(k).mode);
  }
  // What drives that were followed push beside what they were fitted to.
  Eigen::MatrixX2d along = Eigen::MatrixX2d::Zero(to_.nv, 2);
  if (!drives.empty()) drives.add_forces(dt_, along);
  Tangent dalong = Tangent::Zero(to_.nv, to_.size), dalong2 = dalong;
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const FollowedDrives::Track track = drives.track(k);
    const Index dof = track.drive.dof;
    const double X = track.drive.X, a = (track.v - track.drive.v) / dt_;
    const double a2 = 2.0 * (track.x - dt_ * track.drive.v) / (dt_ * dt_);
    const Tangent& given = system_.drives[k];
    const auto v0 = given.row(DriveTangent::kV);
    dalong.row(dof) = resolver_.drive_lam_bar(k) + a * given.row(DriveTangent::kX) +
                      X / dt_ * (resolver_.drive_velocity(k) - v0) - given.row(DriveTangent::kFitted);
    dalong2.row(dof) = resolver_.drive_lam_bar2(k) + a2 * given.row(DriveTangent::kX) +
                       2.0 * X / (dt_ * dt_) * (resolver_.drive_moved(k) - dt_ * v0) - given.row(DriveTangent::kFitted);
  }
  const VectorXd free = free_acceleration(data, system);
  const auto by_forces = compliance_.response().leftCols(row(count));
  a_.resize(to_.nv, 2);
  if (!drives.empty()) {
    factor_.solve_L(along.col(0).data());
    factor_.solve_L(along.col(1).data());
    factor_.solve_Lt(along.col(0).data(), along.col(1).data());
  }
  a_.col(0) = free + by_forces * lam + along.col(0);
  a_.col(1) = free + by_forces * lam2 + along.col(1);
  hold_forces(data, strands, a_.col(0), lam, da_, ddp_);
  add_product(by_forces, dlam_, da_);
  if (!drives.empty()) {
    factor_.solve_rows(to_.size, dalong.data());
    factor_.solve_rows(to_.size, dalong2.data());
    da_ += dalong;
  }
  hold_forces(data, strands, a_.col(1), lam2, da2_, ddp2_);
  add_product(by_forces, dlam2_, da2_);
  if (!drives.empty()) da2_ += dalong2;
  dway_ = 0.5 * dt_ * dt_ * da2_;
  add_start_velocity(dt_, dway_);
  displace(a_.col(1), da2_, dway_);
  move(data, v, next, way);
}

}  // namespace exposim
