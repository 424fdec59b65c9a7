// Derivatives of a step of Expo by what was followed, and in parts.

#include <algorithm>

#include "exposim/integrators/expo_tangent.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// So many points of a body that act are asked for by the six coordinates of the body, fewer by three of each.
constexpr Index kPointsOfBody = 3;

}  // namespace

void ExpoTangent::keep_part() {
  const Index n = all_.forces;
  for (Grazing each : out_->grazing) {
    grazing_of_parts_.push_back(each);
  }
  if (!parted_) {
    parts_ = out_->next;
  } else {
    Tangent joined = out_->next;
    joined.leftCols(n).setZero();
    const Index size = joined.cols();
    to_.for_each_run(n, [&](Index first, Index count) {
      multiply_rows(joined.rows(), count, size, size, out_->next.data() + first, size, parts_.row(first).data(),
                    joined.data(), joined.data());
    });
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
  const bool with_drives = !turning_.empty() && !system_.dofs.empty();
  if (with_drives || known_ < strands.all().size()) add_rows(data, strands, strands.all().size());
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

void ExpoTangent::share_coordinates(const RobotData& data, const StiffSystem& system, const StrandList& strands) {
  StrandCoordinates& shared = system_.coordinates;
  shared.clear();
  system_.arms.clear();
  if (!turning_.empty()) return;
  // Where an average was projected, all strands feel what Υ changes by.
  const auto counts = [&](std::size_t k) { return resolver_.cuts() || resolver_.acts(k); };
  std::vector<Index> acting(system.blocks().size(), 0), first(system.blocks().size(), -1);
  for (std::size_t k = 0; k < system.rows().size(); ++k) acting[system.rows()[k].block] += counts(k);
  of_blocks_.clear();
  for (std::size_t k = 0; k < system.rows().size(); ++k) {
    const StiffSystem::Row& row = system.rows()[k];
    const Block& block = system.blocks()[row.block];
    const Strand& strand = strands.all()[k];
    if (!counts(k)) {
      shared.of.push_back({-1, 0, false, Vector3d::Zero()});
    } else if (is_limit(strand)) {
      shared.of.push_back({shared.count++, 1, false, Vector3d::Zero()});
      of_blocks_.add_dof(static_cast<Index>(strand.b));
    } else if (acting[row.block] < kPointsOfBody) {
      shared.of.push_back({shared.count, 3, false, Vector3d::Zero()});
      shared.count += 3;
      of_blocks_.add_point(strand.a, strand.position, strand.motion.arm);
    } else {
      if (first[row.block] < 0) {
        first[row.block] = shared.count;
        shared.count += 6;
        system_.arms.push_back({first[row.block], strand.a, {}, {}});
        of_blocks_.add_point(strand.a, position_in(data, strand.a, block.origin), Vector3d::Zero());
        of_blocks_.add_spin(strand.a);
      }
      shared.of.push_back({first[row.block], 6, false, row.arm});
      const auto arms = std::find_if(system_.arms.begin(), system_.arms.end(),
                                     [&](const auto& each) { return each.first == first[row.block]; });
      arms->strands.push_back(k);
      arms->turning.push_back(row.arm - strand.motion.arm);
    }
  }
  for (const Index dof : system_.dofs) of_blocks_.add_dof(dof);
  of_blocks_.compute(data, movers_mid_);
}

void ExpoTangent::differentiate_shared(const RobotData& data) {
  if (!out_->exact) return;
  if (!turning_.empty()) return update_compliance_derivatives(data);
  has_compliance_derivatives_ = false;
  differentiate(data, of_blocks_);
  if (system_.arms.empty()) return;
  system_.Upsilon = of_blocks_.Upsilon();
  clear(system_.arms_turn, 3 * static_cast<Index>(system_.arms.size()), to_.size);
  for (std::size_t b = 0; b < system_.arms.size(); ++b) {
    const std::size_t joint = system_.arms[b].joint;
    for (Index i = 0; i < 3; ++i) {
      for (const Index k : world_->robot().supports(joint)) {
        sum_.add(movers_mid_[static_cast<std::size_t>(k)].angular(i), system_.dq.row(k).data());
      }
      sum_.into(to_.size, system_.arms_turn.row(3 * static_cast<Index>(b) + i).data());
    }
  }
}

void ExpoTangent::add_response(ResolverTangent::View dlam, Tangent& da) const {
  const RowMatrixXd by_forces = shared().response().leftCols(dlam.rows());
  multiply_rows(da.rows(), dlam.rows(), to_.size, to_.size, by_forces.data(), by_forces.cols(), dlam.data(), da.data(),
                da.data());
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

void ExpoTangent::hold_double_averages(RobotData& data, const StrandList& strands) {
  if (!turning_.empty() || !system_.dofs.empty()) {
    return hold_followed(data, strands, a_.col(1), followed_.col(1), along_.col(1), da2_, system_.ddp_bar2,
                         system_.held2);
  }
  da2_ = da_;
  if (!out_->exact) {
    system_.ddp_bar2.resize(0, 0);
    system_.held2.resize(0);
    return;
  }
  system_.ddp_bar2 = system_.ddp_bar;
  system_.held2 = followed_.col(1);
  add_change_of_response(strands, a_.col(1) - a_.col(0), followed_.col(1) - followed_.col(0), da2_, 1.0,
                         &system_.ddp_bar2);
}

void ExpoTangent::take_followed(RobotData& data, const StiffSystem& system, const StrandList& strands,
                                const Followed& followed) {
  const std::size_t count = strands.all().size();
  followed_.resize(row(count), 2);
  for (std::size_t k = 0; k < count; ++k) {
    followed_.block<3, 2>(row(k), 0) << followed.resolver.lam_bar(k), followed.resolver.lam_bar2(k);
  }
  asked_.all();
  system_.all_strands = all_strands_ || !turning_.empty() || resolver_.cuts();
  for (std::size_t k = 0; !system_.all_strands && k < count; ++k) asked_.add(resolver_.acts(k));
  share_coordinates(data, system, strands);
  shared_ = followed_;
  if (turning_.empty()) {
    shared_.setZero(system_.coordinates.count, 2);
    for (std::size_t k = 0; k < count; ++k) {
      for (Index i = 0; i < 3; ++i) {
        system_.coordinates.of[k].for_each(
            i, [&](Index c, double factor) { shared_.row(c) += factor * followed_.row(row(k) + i); });
      }
    }
  }
  a_ = shared().response().leftCols(shared_.rows()) * shared_;
  a_.colwise() += free_acceleration(data, system);
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
  hold_double_averages(data, strands);
  differentiate_shared(data);
  resolver_.differentiate(ResolverTangent::Wanted::kAll, out_->exact);

  const std::size_t count = strands.all().size();
  for (Tangent* each : {&way_target_, &dp_target_}) each->resize(row(count), to_.size);
  modes_.clear();
  aims_at_averages_ = false;
  for (std::size_t k = 0; k < count; ++k) {
    if (asked_(k)) {
      way_target_.middleRows<3>(row(k)) = resolver_.moved(k);
      dp_target_.middleRows<3>(row(k)) = resolver_.velocity(k);
    }
    modes_.push_back(followed.resolver.end(k).mode);
  }
  add_response(resolver_.lam_bar(), da_);
  add_response(resolver_.lam_bar2(), da2_);
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
  differentiate_shared(data);
  resolver_.differentiate(ResolverTangent::Wanted::kWay, out_->exact);
  add_response(resolver_.lam_bar2(), da2_);
  if (!followed.drives.empty()) add_double_averages_of_drives(followed.drives);
  scale(0.5 * dt_ * dt_, da2_, dway_);
  q_of_way_ = v_of_way_ = false;  // but of the way before it
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
