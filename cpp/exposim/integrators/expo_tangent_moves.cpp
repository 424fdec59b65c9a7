// Derivatives of a step of Expo by what was followed, and in parts.

#include <Eigen/LU>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void ExpoTangent::keep_part() {
  const Index n = all_.forces;
  for (Grazing each : out_->grazing) {
    grazing_of_parts_.push_back(each);
  }
  if (!parted_) {
    parts_ = out_->next;
  } else {
    Tangent joined = product(out_->next.leftCols(n), parts_);
    joined.rightCols(all_.size - n) += out_->next.rightCols(all_.size - n);
    parts_ = joined;
  }
  parted_ = true;
}

void ExpoTangent::join_parts() {
  if (!parted_) return;
  out_->next = parts_;
  out_->grazing = grazing_of_parts_;
}

void ExpoTangent::begin_following(RobotData& data, const StrandList& strands, const FollowedDrives& drives,
                                  Resolver& resolver) {
  system_.dofs.clear();
  system_.drives.clear();
  for (std::size_t k = 0; k < drives.size(); ++k) system_.dofs.push_back(drives.drive(k).dof);
  if (!system_.dofs.empty() || known_ < strands.all().size()) add_rows(data, strands, strands.all().size());
  for (const Index dof : system_.dofs) {
    Tangent& drive = system_.drives.emplace_back(Tangent::Zero(DriveTangent::kRows, to_.size));
    for (const JointTerms::Fitted& each : fits_.all) {
      if (each.dof == dof) add_constant(each, drive.row(DriveTangent::kForce));
    }
    drive.row(DriveTangent::kX) = X_by_q_.row(dof) * system_.dq;
    drive.row(DriveTangent::kFitted) = dforce_.row(dof);
    drive(DriveTangent::kV, to_.v(dof)) = 1.0;
  }
  resolver_.take(system_);
  resolver.differentiate(&resolver_);
}

void ExpoTangent::hold_followed(RobotData& data, const StrandList& strands, const VectorXd& a, const VectorXd& lam,
                                const VectorXd& along, Tangent& da, Tangent& ddp, VectorXd& held) {
  hold_forces(data, strands, a, lam, da, ddp);
  const Index m = lam.size(), count = static_cast<Index>(system_.dofs.size());
  held = lam;
  if (count == 0) return;
  held.conservativeResize(m + count);
  ddp.conservativeResize(m + count, to_.size);
  for (Index k = 0; k < count; ++k) {
    const Index dof = system_.dofs[static_cast<std::size_t>(k)];
    held(m + k) = along(dof);
    ddp.row(m + k) = da.row(dof);
  }
}

void ExpoTangent::take_followed(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                const Followed& followed) {
  const std::size_t count = strands.all().size();
  followed_.resize(row(count), 2);
  for (std::size_t k = 0; k < count; ++k) {
    followed_.block<3, 2>(row(k), 0) << followed.resolver.lam_bar(k), followed.resolver.lam_bar2(k);
  }
  const VectorXd free = free_acceleration(data, system);
  a_ = compliance_.response().leftCols(row(count)) * followed_;
  a_.colwise() += free;
  // What drives that were followed push beside what they were fitted to.
  along_.setZero(to_.nv, 2);
  if (followed.drives.empty()) return;
  followed.drives.add_forces(dt_, along_);
  Eigen::MatrixX2d by_drives = along_;
  factor_.solve_L(by_drives.col(0).data());
  factor_.solve_L(by_drives.col(1).data());
  factor_.solve_Lt(by_drives.col(0).data(), by_drives.col(1).data());
  a_ += by_drives;
}

void ExpoTangent::follow(RobotData& data, const StiffSystem& system, const StrandList& strands,
                         const Followed& followed, const VectorXd& v, const State& next, const VectorXd& way) {
  if (!supported_) return;
  if (!resolver_.supported()) return give_up();
  watch_unknown(followed.resolver);
  take_followed(data, system, strands, followed);
  hold_followed(data, strands, a_.col(0), followed_.col(0), along_.col(0), da_, system_.ddp_bar, system_.held);
  hold_followed(data, strands, a_.col(1), followed_.col(1), along_.col(1), da2_, system_.ddp_bar2, system_.held2);
  if (out_->exact) update_compliance_derivatives(data);
  resolver_.differentiate(ResolverTangent::Wanted::kAll, out_->exact);

  const std::size_t count = strands.all().size();
  for (Tangent* each : {&dlam_, &dlam2_, &way_target_, &dp_target_}) each->resize(row(count), to_.size);
  modes_.clear();
  aims_at_averages_ = false;
  for (std::size_t k = 0; k < count; ++k) {
    dlam_.middleRows<3>(row(k)) = resolver_.lam_bar(k);
    dlam2_.middleRows<3>(row(k)) = resolver_.lam_bar2(k);
    way_target_.middleRows<3>(row(k)) = resolver_.moved(k);
    dp_target_.middleRows<3>(row(k)) = resolver_.velocity(k);
    modes_.push_back(followed.resolver.end(k).mode);
  }
  add_product(compliance_.response().leftCols(row(count)), dlam_, da_);
  add_product(compliance_.response().leftCols(row(count)), dlam2_, da2_);
  if (!followed.drives.empty()) {
    add_averages_of_drives(followed.drives);
    add_double_averages_of_drives(followed.drives);
  }
  move(data, v, next, way);
}

void ExpoTangent::follow_way(RobotData& data, const StiffSystem& system, const StrandList& strands,
                             const Followed& followed) {
  if (!supported_) return;
  if (!resolver_.supported()) return give_up();
  watch_unknown(followed.resolver);
  take_followed(data, system, strands, followed);
  hold_followed(data, strands, a_.col(1), followed_.col(1), along_.col(1), da2_, system_.ddp_bar2, system_.held2);
  if (out_->exact) update_compliance_derivatives(data);
  resolver_.differentiate(ResolverTangent::Wanted::kWay, out_->exact);
  dlam2_.resize(followed_.rows(), to_.size);
  for (std::size_t k = 0; k < strands.all().size(); ++k) dlam2_.middleRows<3>(row(k)) = resolver_.lam_bar2(k);
  add_product(compliance_.response().leftCols(followed_.rows()), dlam2_, da2_);
  if (!followed.drives.empty()) add_double_averages_of_drives(followed.drives);
  dway_ = 0.5 * dt_ * dt_ * da2_;
  add_start_velocity(dt_, dway_);
  displace(a_.col(1), da2_, dway_);
}

void ExpoTangent::add_averages_of_drives(const FollowedDrives& drives) {
  Tangent dalong = Tangent::Zero(to_.nv, to_.size);
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const FollowedDrives::Track track = drives.track(k);
    const Tangent& given = system_.drives[k];
    dalong.row(track.drive.dof) = resolver_.drive_lam_bar(k) - given.row(DriveTangent::kFitted) +
                                  (track.v - track.drive.v) / dt_ * given.row(DriveTangent::kX) +
                                  track.drive.X / dt_ * (resolver_.drive_velocity(k) - given.row(DriveTangent::kV));
  }
  factor_.solve_rows(to_.size, dalong.data());
  da_ += dalong;
}

void ExpoTangent::add_double_averages_of_drives(const FollowedDrives& drives) {
  Tangent dalong = Tangent::Zero(to_.nv, to_.size);
  const double twice = 2.0 / (dt_ * dt_);
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const FollowedDrives::Track track = drives.track(k);
    const Tangent& given = system_.drives[k];
    dalong.row(track.drive.dof) =
        resolver_.drive_lam_bar2(k) - given.row(DriveTangent::kFitted) +
        twice * (track.x - dt_ * track.drive.v) * given.row(DriveTangent::kX) +
        twice * track.drive.X * (resolver_.drive_moved(k) - dt_ * given.row(DriveTangent::kV));
  }
  factor_.solve_rows(to_.size, dalong.data());
  da2_ += dalong;
}

}  // namespace exposim
