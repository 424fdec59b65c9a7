#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/system.hpp"

namespace exposim {

/// What the motion of blocks leaves of a strand: no resultant of springs acts on it, it moves freely.
struct Unexplained {
  Eigen::Vector3d p, dp, ddp;  ///< at the start; the last is constant
};

/// Motions of the blocks of a system that fit those of their strands best in the sense of the springs.
///
/// With C Cᵀ = GᵀKG, block by block: y = Cᵀd = C⁻¹GᵀK Δp. Points that are blocks of their own can do without: d = Δp.
class BlockFit {
 public:
  /// Fits displacements, velocities and accelerations.
  /// @param points_too whether single points get factors as well; then start() has y, otherwise d.
  void compute(const StiffSystem& system, bool points_too);
  /// From y to d of the start.
  void turn_into_displacements(const StiffSystem& system) { solve_Ct_in_place(system, start_); }
  /// Finds what d leaves of the strands. @return whether there may be any.
  bool find_unexplained(const StiffSystem& system);

  /// Columns: displacement, velocity, acceleration.
  const Eigen::MatrixX3d& start() const { return start_; }
  /// GᵀKG of every block.
  const std::vector<DiagonalBlock>& K() const { return K_; }
  /// Lower triangular.
  const Eigen::Matrix<double, 6, 6>& C(std::size_t block) const { return C_[block]; }
  /// C⁻ᵀ, column by column.
  void solve_Ct_in_place(const StiffSystem& system, Eigen::Ref<Eigen::MatrixXd> x) const;
  /// One for every active strand; none at all where blocks explain everything.
  const std::vector<Unexplained>& unexplained() const { return unexplained_; }
  /// Wrenches of what is left on the blocks, which are linear in time: at the start, and their rate.
  const Eigen::MatrixX2d& left_wrenches(const StiffSystem& system);

 private:
  void factor(const StiffSystem& system, bool points_too);
  void solve_C_in_place(const StiffSystem& system, Eigen::Ref<Eigen::MatrixXd> x) const;

  std::vector<DiagonalBlock> K_;
  std::vector<Eigen::Matrix<double, 6, 6>> C_;
  Eigen::MatrixX3d start_;
  std::vector<Unexplained> unexplained_;
  Eigen::MatrixX2d left_;
};

}  // namespace exposim
