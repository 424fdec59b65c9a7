#include "exposim/expo/followed_drives.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/expo/micro_step.hpp"
#include "exposim/kernels/columns.hpp"
#include "exposim/kernels/fours.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// The force of the second stage lies on the straight line through those of the start and the first stage, so far
/// behind the latter that the two weights of the implicit stages make of them what the explicit half wants.
const double kBehind = 1.0 / (2.0 * kGamma * kGamma);
/// Error of the velocity after h, by how far forces at its start, first stage and end are from a straight line: the
/// explicit half loses z³/6 of y' = λy.
constexpr double kErrorOfBend = 0.236;

}  // namespace

void FollowedDrives::begin(const RobotData& data) {
  data_ = &data;
  tracks_.clear();
}

std::size_t FollowedDrives::add(const Drive& drive) {
  Track& track = tracks_.emplace_back();
  track.drive = drive;
  track.x = track.lam_bar = track.lam_bar2 = 0.0;
  track.v = drive.v;
  track.force = drive.at(0.0, drive.v);
  return tracks_.size() - 1;
}

bool FollowedDrives::enter(const StiffSystem& system, std::size_t group, const std::vector<std::size_t>& blocks) {
  group_.clear();
  for (Track& track : tracks_) {
    if (system.group_moved_by(track.drive.dof) == group) group_.push_back(&track);
  }
  if (group_.empty()) return false;
  load(system, blocks);
  bound_micro_steps();
  push_from_start();
  return true;
}

void FollowedDrives::load(const StiffSystem& system, const std::vector<std::size_t>& blocks) {
  blocks_ = 0;
  for (const std::size_t b : blocks) blocks_ += system.blocks()[b].size;
  const auto drives = static_cast<Index>(group_.size());
  size_ = blocks_ + drives;
  stride_ = padded(size_);
  const Index row = padded(drives);
  Upsilon_.assign(static_cast<std::size_t>(stride_ * (size_ + 1)), 0.0);
  for (std::vector<double>* const each : {&column_, &free_, &at_start_, &in_stage_})
    each->assign(static_cast<std::size_t>(stride_), 0.0);
  for (std::vector<double>* const each : {&forces_, &replies_}) each->assign(static_cast<std::size_t>(row), 0.0);

  Y_.assign(static_cast<std::size_t>(row * system.w().size()), 0.0);
  const auto row_of = [&](Index dof) { return Y_.data() + dof * row; };
  const auto at = [&](Index i, Index j) -> double& { return Upsilon_[static_cast<std::size_t>(j * stride_ + i)]; };
  for (Index d = 0; d < drives; ++d) {
    double& free = free_[static_cast<std::size_t>(blocks_ + d)];
    data_->factor().for_each_in_inverse_L(group_[static_cast<std::size_t>(d)]->drive.dof, [&](Index dof, double entry) {
      row_of(dof)[d] = entry;
      free += entry * system.w()(dof);
    });
  }
  for (Index d = 0; d < drives; ++d) {
    double* const column = &at(blocks_, blocks_ + d);
    data_->factor().for_each_in_inverse_L(group_[static_cast<std::size_t>(d)]->drive.dof, [&](Index dof, double entry) {
      add_column(drives, entry, row_of(dof), column);
    });
  }
  Index first = 0;
  for (const std::size_t b : blocks) {
    const Block& block = system.blocks()[b];
    system.for_each_row_of_Y(b, [&](Index dof, const double* entries) {
      for (Index i = 0; i < block.size; ++i) add_column(drives, entries[i], row_of(dof), &at(blocks_, first + i));
    });
    Index other = 0;
    for (const std::size_t c : blocks) {
      const Block& with = system.blocks()[c];
      for (Index j = 0; j < with.size; ++j) {
        for (Index i = 0; i < block.size; ++i) {
          at(first + i, other + j) = system.Upsilon_block()(block.first + i, with.first + j);
        }
      }
      other += with.size;
    }
    for (Index i = 0; i < block.size; ++i) {
      for (Index d = 0; d < drives; ++d) at(first + i, blocks_ + d) = at(blocks_ + d, first + i);
    }
    first += block.size;
  }
  take_out_of_inertia();
}

void FollowedDrives::take_out_of_inertia() {
  const auto drives = static_cast<Index>(group_.size());
  const auto column_of = [&](Index d) { return Upsilon_.data() + (blocks_ + d) * stride_; };
  for (Index d = 0; d < drives; ++d) {
    add_column(size_, -group_[static_cast<std::size_t>(d)]->drive.fitted, column_of(d), free_.data());
  }
  for (Index d = 0; d < drives; ++d) {
    const auto place = static_cast<std::size_t>(blocks_ + d);
    std::copy_n(column_of(d), size_, column_.begin());
    const double by = 1.0 / (1.0 / group_[static_cast<std::size_t>(d)]->drive.X - column_[place]);
    add_column(size_, by * free_[place], column_.data(), free_.data());
    add_square(size_, stride_, by, column_.data(), Upsilon_.data());
  }
  change_ = Eigen::Map<const VectorXd>(free_.data(), blocks_);
  pushed_.resize(blocks_);
}

void FollowedDrives::bound_micro_steps() {
  double by_damping = 0.0, by_spring = 0.0;  // squares of norms of √D Υ √D and √K Υ √K
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const double* const column = Upsilon_.data() + (blocks_ + static_cast<Index>(i)) * stride_ + blocks_;
    for (std::size_t j = 0; j < group_.size(); ++j) {
      const double square = column[j] * column[j];
      by_damping += square * group_[i]->drive.D * group_[j]->drive.D;
      by_spring += square * group_[i]->drive.K * group_[j]->drive.K;
    }
  }
  longest_ = thresholds::kDriveStage / (std::sqrt(by_damping) + std::sqrt(std::sqrt(by_spring)));
}

template <typename Force>
void FollowedDrives::push(Index rows, Force&& force, std::vector<double>& accelerations) {
  const auto drives = static_cast<Index>(group_.size());
  for (std::size_t d = 0; d < group_.size(); ++d) forces_[d] = force(*group_[d]);
  multiply_columns(rows, drives, stride_, Upsilon_.data() + blocks_ * stride_, forces_.data(), accelerations.data());
}

void FollowedDrives::reply_to(const VectorXd& wrench, const std::vector<double>& pushed) {
  const auto drives = static_cast<Index>(group_.size());
  multiply_columns(drives, blocks_, stride_, Upsilon_.data() + blocks_, wrench.data(), replies_.data());
  for (std::size_t d = 0; d < group_.size(); ++d) {
    const std::size_t place = static_cast<std::size_t>(blocks_) + d;
    replies_[d] += free_[place] + pushed[place];
  }
}

void FollowedDrives::push_from_start() {
  push(size_, [](const Track& track) { return track.force; }, at_start_);
}

void FollowedDrives::begin_stages() { std::copy_n(at_start_.begin(), blocks_, pushed_.data()); }

void FollowedDrives::end_first_stage(const VectorXd& wrench, double h) {
  const double g = kGamma * h;
  reply_to(wrench, at_start_);
  for (std::size_t d = 0; d < group_.size(); ++d) {
    Track& track = *group_[d];
    track.a1 = replies_[d];
    const double v1 = track.v + g * track.a1;
    track.force1 = track.drive.at(track.x + g * v1, v1);
    track.force2 = track.force + kBehind * (track.force1 - track.force);
  }
  push(size_, [](const Track& track) { return track.force2; }, in_stage_);
  std::copy_n(in_stage_.begin(), blocks_, pushed_.data());
}

void FollowedDrives::end_second_stage(const VectorXd& wrench, double h) {
  const double g = kGamma * h;
  reply_to(wrench, in_stage_);
  for (std::size_t d = 0; d < group_.size(); ++d) {
    Track& track = *group_[d];
    const double a2 = replies_[d];
    track.v_end = track.v + (h - g) * track.a1 + g * a2;
    track.way = h * track.v + 2.0 * g * (h - g) * track.a1 + g * g * a2;
  }
}

void FollowedDrives::push_by_error() {
  const auto off = [](const Track& track) {
    const double end = track.drive.at(track.x + track.way, track.v_end);
    return kErrorOfBend * ((end - track.force1) / (1.0 - kGamma) - (track.force1 - track.force) / kGamma);
  };
  push(blocks_, off, in_stage_);
  std::copy_n(in_stage_.begin(), blocks_, pushed_.data());
}

void FollowedDrives::accept(double h) {
  for (Track* const each : group_) {
    Track& track = *each;
    add_to_integrals(h, track.force, track.force2, track.lam_bar, track.lam_bar2);
    track.x += track.way;
    track.v = track.v_end;
    track.force = track.drive.at(track.x, track.v);
  }
  push_from_start();
}

void FollowedDrives::add_forces(double dt, Eigen::MatrixX2d& along_dofs) const {
  for (const Track& track : tracks_) {
    const Drive& drive = track.drive;
    // The inertia that moves the robot is that with X, which takes X times the acceleration.
    const double a = (track.v - drive.v) / dt, a2 = 2.0 * (track.x - dt * drive.v) / (dt * dt);
    along_dofs(drive.dof, 0) += track.lam_bar / dt + drive.X * a - drive.fitted;
    along_dofs(drive.dof, 1) += track.lam_bar2 * (2.0 / (dt * dt)) + drive.X * a2 - drive.fitted;
  }
}

}  // namespace exposim
