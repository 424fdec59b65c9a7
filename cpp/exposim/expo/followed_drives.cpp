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

/// Error of the velocity after h, by how far forces at its start, first stage and end are from a straight line: the
/// explicit half loses z³/6 of y' = λy.
constexpr double kErrorOfBend = 0.236;

EXPOSIM_INLINE Four force_at(const DriveLanes& drives, Index i, const Four& x, const Four& v) {
  return four(drives.constant, i) - four(drives.K, i) * x - four(drives.D, i) * v;
}

/// @param a accelerations by the forces of the strands; beside them there are those without and by the drives.
EXPOSIM_FOR_EACH_MACHINE
void end_first_stage(const DriveLanes& drives, double g, const double* a, const double* free, const double* pushed) {
  for (Index i = 0; i < fours(drives.count); ++i) {
    const Four a1 = four(a, i) + (four(free, i) + four(pushed, i));
    const Four v1 = four(drives.v, i) + g * a1;
    const Four force1 = force_at(drives, i, four(drives.x, i) + g * v1, v1);
    four(drives.a1, i) = a1;
    four(drives.force1, i) = force1;
    four(drives.force2, i) = four(drives.force, i) + kBehind * (force1 - four(drives.force, i));
  }
}

EXPOSIM_FOR_EACH_MACHINE
void end_second_stage(const DriveLanes& drives, double h, double g, const double* a, const double* free,
                      const double* pushed) {
  for (Index i = 0; i < fours(drives.count); ++i) {
    const Four a2 = four(a, i) + (four(free, i) + four(pushed, i)), v = four(drives.v, i), a1 = four(drives.a1, i);
    four(drives.a2, i) = a2;
    four(drives.v_end, i) = v + (h - g) * a1 + g * a2;
    four(drives.way, i) = h * v + 2.0 * g * (h - g) * a1 + g * g * a2;
  }
}

/// By how much the forces are off.
EXPOSIM_FOR_EACH_MACHINE
void bend(const DriveLanes& drives, double gamma, double* off) {
  for (Index i = 0; i < fours(drives.count); ++i) {
    const Four force1 = four(drives.force1, i);
    const Four end = force_at(drives, i, four(drives.x, i) + four(drives.way, i), four(drives.v_end, i));
    four(off, i) = kErrorOfBend * ((end - force1) / (1.0 - gamma) - (force1 - four(drives.force, i)) / gamma);
  }
}

EXPOSIM_FOR_EACH_MACHINE
void move_on(const DriveLanes& drives, double h, double gamma) {
  for (Index i = 0; i < fours(drives.count); ++i) {
    const Four force = four(drives.force, i), force2 = four(drives.force2, i);
    Four &once = four(drives.lam_bar, i), &twice = four(drives.lam_bar2, i);
    twice += h * (once + h * (2.0 * gamma * (1.0 - gamma) * force + gamma * gamma * force2));
    once += h * ((1.0 - gamma) * force + gamma * force2);
    const Four x = four(drives.x, i) + four(drives.way, i), v = four(drives.v_end, i);
    four(drives.x, i) = x;
    four(drives.v, i) = v;
    four(drives.force, i) = force_at(drives, i, x, v);
  }
}

struct Squares {
  double damping, spring;
};

/// Squares of norms of √D Υ √D and √K Υ √K.
EXPOSIM_FOR_EACH_MACHINE
Squares squares_of(const DriveLanes& drives, Index stride, const double* Upsilon) {
  Four damping = {0.0, 0.0, 0.0, 0.0}, spring = damping;
  for (Index j = 0; j < drives.count; ++j, Upsilon += stride) {
    for (Index i = 0; i < fours(drives.count); ++i) {
      const Four square = four(Upsilon, i) * four(Upsilon, i);
      damping += square * (drives.D[j] * four(drives.D, i));
      spring += square * (drives.K[j] * four(drives.K, i));
    }
  }
  return {damping[0] + damping[1] + damping[2] + damping[3], spring[0] + spring[1] + spring[2] + spring[3]};
}

}  // namespace

void FollowedDrives::begin(const RobotData& data) {
  data_ = &data;
  drives_.clear();
  place_.clear();
  next_ = 0;
}

std::size_t FollowedDrives::add(const Drive& drive) {
  drives_.push_back(drive);
  place_.push_back(0);
  return drives_.size() - 1;
}

bool FollowedDrives::enter(const StiffSystem& system, std::size_t group, const std::vector<std::size_t>& blocks) {
  group_.clear();
  for (std::size_t k = 0; k < drives_.size(); ++k) {
    if (system.group_moved_by(drives_[k].dof) == group) group_.push_back(k);
  }
  if (group_.empty()) return false;
  line_up();
  load(system, blocks);
  bound_micro_steps();
  push_from_start();
  return true;
}

void FollowedDrives::line_up() {
  const std::size_t first = next_, count = group_.size();
  next_ += static_cast<std::size_t>(padded(static_cast<Index>(count)));
  const auto start = [&](std::vector<double>& quantity) {
    quantity.resize(std::max(quantity.size(), next_));
    std::fill_n(quantity.begin() + static_cast<Index>(first), next_ - first, 0.0);
    return quantity.data() + first;
  };
  double *const constant = start(constant_), *const K = start(K_), *const D = start(D_);
  lanes_ = {static_cast<Index>(count),
            constant,
            K,
            D,
            start(x_),
            start(v_),
            start(force_),
            start(force1_),
            start(force2_),
            start(a1_),
            start(a2_),
            start(way_),
            start(v_end_),
            start(lam_bar_),
            start(lam_bar2_)};
  for (std::size_t d = 0; d < count; ++d) {
    const Drive& drive = drives_[group_[d]];
    place_[group_[d]] = first + d;
    constant[d] = drive.force;
    K[d] = drive.K;
    D[d] = drive.D;
    lanes_.v[d] = drive.v;
    lanes_.force[d] = drive.at(0.0, drive.v);
  }
}

void FollowedDrives::load(const StiffSystem& system, const std::vector<std::size_t>& blocks) {
  blocks_ = 0;
  for (const std::size_t b : blocks) blocks_ += system.blocks()[b].size;
  const auto drives = static_cast<Index>(group_.size());
  begin_ = padded(blocks_);
  size_ = begin_ + drives;
  stride_ = padded(size_);
  const Index row = padded(drives);
  const Index nv = system.w().size();
  Upsilon_.resize(static_cast<std::size_t>(stride_ * size_));
  const auto column = [&](Index j) { return Upsilon_.data() + j * stride_; };
  for (Index j = 0; j < size_; ++j) std::fill(column(j) + blocks_, column(j) + begin_, 0.0);
  free_.assign(static_cast<std::size_t>(stride_), 0.0);
  for (std::vector<double>* const each : {&at_start_, &in_stage_}) each->resize(static_cast<std::size_t>(stride_));
  for (std::vector<double>* const each : {&forces_, &replies_}) each->resize(static_cast<std::size_t>(row));

  Y_.assign(static_cast<std::size_t>(row * nv), 0.0);
  dofs_.resize(static_cast<std::size_t>(drives * nv));
  entries_.resize(dofs_.size());
  counts_.resize(group_.size());
  for (Index d = 0; d < drives; ++d) {
    Index* dof_at = dofs_.data() + d * nv;
    double* entry_at = entries_.data() + d * nv;
    double free = 0.0;
    data_->factor().for_each_in_inverse_L(drives_[group_[static_cast<std::size_t>(d)]].dof,
                                          [&](Index dof, double entry) {
                                            Y_[static_cast<std::size_t>(dof * row + d)] = entry;
                                            free += entry * system.w()(dof);
                                            *dof_at++ = dof;
                                            *entry_at++ = entry;
                                          });
    free_[static_cast<std::size_t>(begin_ + d)] = free;
    counts_[static_cast<std::size_t>(d)] = dof_at - (dofs_.data() + d * nv);
  }
  for (Index d = 0; d < drives; ++d) {
    combine_rows(drives, 1, counts_[static_cast<std::size_t>(d)], dofs_.data() + d * nv, entries_.data() + d * nv, row,
                 Y_.data(), stride_, column(begin_ + d) + begin_);
  }
  Index first = 0;
  for (const std::size_t b : blocks) {
    const Block& block = system.blocks()[b];
    Index* dof_at = dofs_.data();
    const double* rows = nullptr;
    system.for_each_row_of_Y(b, [&](Index dof, const double* entries) {
      if (!rows) rows = entries;
      *dof_at++ = dof;
    });
    combine_rows(drives, block.size, dof_at - dofs_.data(), dofs_.data(), rows, row, Y_.data(), stride_,
                 column(first) + begin_);
    for (Index i = 0; i < block.size; ++i) {
      double* to = column(first + i);
      for (const std::size_t c : blocks) {
        const Block& with = system.blocks()[c];
        const double* const from = &system.Upsilon_block()(with.first, block.first + i);
        for (Index j = 0; j < with.size; ++j) *to++ = from[j];
      }
      const double* const by_drives = column(first + i) + begin_;
      for (Index d = 0; d < drives; ++d) column(begin_ + d)[first + i] = by_drives[d];
    }
    first += block.size;
  }
  take_out_of_inertia();
}

void FollowedDrives::take_out_of_inertia() {
  const auto drives = static_cast<Index>(group_.size());
  const double* const columns = Upsilon_.data() + begin_ * stride_;
  by_.resize(group_.size());
  taken_.resize(static_cast<std::size_t>(drives * stride_));
  for (std::size_t d = 0; d < group_.size(); ++d) forces_[d] = -drives_[group_[d]].fitted;
  add_columns(size_, drives, stride_, columns, forces_.data(), free_.data());
  for (Index d = 0; d < drives; ++d) {
    // As it is when those before have been taken out.
    double* const own = taken_.data() + d * stride_;
    const Index place = begin_ + d;
    std::copy_n(columns + d * stride_, stride_, own);
    for (Index e = 0; e < d; ++e) {
      const auto before = static_cast<std::size_t>(e);
      forces_[before] = by_[before] * taken_[static_cast<std::size_t>(e * stride_ + place)];
    }
    add_columns(size_, d, stride_, taken_.data(), forces_.data(), own);
    const double by = 1.0 / (1.0 / drives_[group_[static_cast<std::size_t>(d)]].X - own[place]);
    const double factor = by * free_[static_cast<std::size_t>(place)];
    add_columns(size_, 1, stride_, own, &factor, free_.data());
    by_[static_cast<std::size_t>(d)] = by;
  }
  add_squares(size_, drives, stride_, taken_.data(), by_.data(), Upsilon_.data());
  change_ = Eigen::Map<const VectorXd>(free_.data(), blocks_);
  pushed_.resize(blocks_);
}

void FollowedDrives::bound_micro_steps() {
  const auto [damping, spring] = squares_of(lanes_, stride_, Upsilon_.data() + begin_ * stride_ + begin_);
  longest_ = thresholds::kDriveStage / (std::sqrt(damping) + std::sqrt(std::sqrt(spring)));
}

void FollowedDrives::push(Index rows, const double* forces, std::vector<double>& accelerations) const {
  multiply_columns(rows, lanes_.count, stride_, Upsilon_.data() + begin_ * stride_, forces, accelerations.data());
}

void FollowedDrives::reply_to(const VectorXd& wrench) {
  multiply_columns(lanes_.count, blocks_, stride_, Upsilon_.data() + begin_, wrench.data(), replies_.data());
}

void FollowedDrives::push_from_start() { push(size_, lanes_.force, at_start_); }

void FollowedDrives::begin_stages() { std::copy_n(at_start_.begin(), blocks_, pushed_.data()); }

void FollowedDrives::end_first_stage(const VectorXd& wrench, double h) {
  reply_to(wrench);
  exposim::end_first_stage(lanes_, kGamma * h, replies_.data(), free_.data() + begin_, at_start_.data() + begin_);
  push(size_, lanes_.force2, in_stage_);
  std::copy_n(in_stage_.begin(), blocks_, pushed_.data());
}

void FollowedDrives::end_second_stage(const VectorXd& wrench, double h) {
  reply_to(wrench);
  exposim::end_second_stage(lanes_, h, kGamma * h, replies_.data(), free_.data() + begin_, in_stage_.data() + begin_);
}

void FollowedDrives::push_by_error() {
  bend(lanes_, kGamma, forces_.data());
  push(blocks_, forces_.data(), in_stage_);
  std::copy_n(in_stage_.begin(), blocks_, pushed_.data());
}

void FollowedDrives::accept(double h) {
  move_on(lanes_, h, kGamma);
  push_from_start();
}

FollowedDrives::Track FollowedDrives::track(std::size_t k) const {
  const std::size_t p = place_[k];
  return {drives_[k], x_[p],  v_[p],   force_[p], force1_[p],  force2_[p],
          a1_[p],     a2_[p], way_[p], v_end_[p], lam_bar_[p], lam_bar2_[p]};
}

void FollowedDrives::add_forces(double dt, Eigen::MatrixX2d& along_dofs) const {
  for (std::size_t k = 0; k < drives_.size(); ++k) {
    const Drive& drive = drives_[k];
    const std::size_t place = place_[k];
    // The inertia that moves the robot is that with X, which takes X times the acceleration.
    const double a = (v_[place] - drive.v) / dt, a2 = 2.0 * (x_[place] - dt * drive.v) / (dt * dt);
    along_dofs(drive.dof, 0) += lam_bar_[place] / dt + drive.X * a - drive.fitted;
    along_dofs(drive.dof, 1) += lam_bar2_[place] * (2.0 / (dt * dt)) + drive.X * a2 - drive.fitted;
  }
}

}  // namespace exposim
