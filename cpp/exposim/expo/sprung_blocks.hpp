#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/system.hpp"
#include "exposim/kernels/identity_plus.hpp"

namespace exposim {

/// Blocks of a stiff system with springs attached for an implicit stage:
///
///   α = (I + Υ GᵀQG)⁻¹ Υ Gᵀf,
///
/// the accelerations of the blocks by forces f on their strands, each of which is weakened by Q times what it causes.
class SprungBlocks {
 public:
  /// Takes blocks of a system, without springs.
  void begin(const StiffSystem& system, const std::vector<std::size_t>& blocks);
  /// The same with another Υ between them, a column of which begins every `stride` numbers.
  void begin(const StiffSystem& system, const std::vector<std::size_t>& blocks, const double* Upsilon,
             Eigen::Index stride);
  /// The same for its first blocks.
  void begin(const StiffSystem& system, std::size_t count);

  /// No springs.
  void detach();
  /// @param lasting it stays while others change.
  void add_spring(const StiffSystem::Row& row, const Eigen::Matrix3d& Q, bool lasting = true);
  /// @param lasting_as_before springs of blocks in which all last are the same as at the last call.
  void attach(bool lasting_as_before = false) {
    compliance_.attach(springs_, lasting_as_before, IdentityPlus::Forces::kOnBlocks);
  }
  /// Of I + Υ GᵀQG.
  double determinant() const { return compliance_.determinant(); }

  void clear_forces() { wrench_.setZero(); }
  void add_force(const StiffSystem::Row& row, const Eigen::Vector3d& f) {
    system_->add_wrench(row, place_[row.block], f, wrench_);
  }
  void solve() { compliance_.apply(wrench_.data(), alpha_.data()); }
  /// The forces so far.
  const Eigen::VectorXd& wrench() const { return wrench_; }
  /// Where the coordinates of a strand's block begin in these, and in α.
  Eigen::Index place_of(const StiffSystem::Row& row) const { return place_[row.block]; }
  double* forces() { return wrench_.data(); }
  const double* accelerations() const { return alpha_.data(); }
  /// G x of a strand, for a motion x of the blocks.
  Eigen::Vector3d motion_of(const StiffSystem::Row& row, const Eigen::VectorXd& x) const {
    return system_->motion_of(row, place_[row.block], x);
  }
  /// G α of a strand.
  Eigen::Vector3d acceleration_of(const StiffSystem::Row& row) const { return motion_of(row, alpha_); }

  /// α by f: a coefficient of (I + Υ GᵀQG)⁻¹ Υ, between coordinates of the blocks here.
  double response(Eigen::Index i, Eigen::Index j) const { return compliance_.X(i, j); }
  /// How many coordinates there are, and where those of a block of the system begin.
  Eigen::Index size() const { return wrench_.size(); }
  Eigen::Index first_of(std::size_t block) const { return place_[block]; }

 private:
  void place(const StiffSystem& system, const std::vector<std::size_t>& blocks);

  const StiffSystem* system_ = nullptr;
  std::vector<std::size_t> blocks_;
  std::vector<Eigen::Index> place_, slot_;  // of a block of the system: its first row here, its entry in springs_
  std::vector<Eigen::Index> rows_;          // of the system
  std::vector<DiagonalBlock> springs_;
  IdentityPlus compliance_;
  Eigen::VectorXd wrench_, alpha_;  // the latter filled up to a multiple of four
};

}  // namespace exposim
