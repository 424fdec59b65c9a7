#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/block.hpp"
#include "exposim/kernels/identity_plus.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// The stiff strands of a step as a linear system, with Υ and p̈̄ frozen; beside them, open contacts that may close.
///
///   Δp̈ = −Υ (K Δp + B Δṗ) + p̈̄,    λ = −K Δp − B Δṗ                       (eq:contact_dyn, eq:contact_forces)
///
/// Strands between the same two bodies move with the six coordinates of their block: J_i = G_i J_block,
/// Υ = G Υ_block Gᵀ. A block of one point has the point's three coordinates, and G_i = I; a joint coordinate is a block
/// of one. With M = LLᵀ, Y = L⁻¹J_blockᵀ and w = L⁻¹u: Υ_block = YᵀY, and the acceleration of the blocks without stiff
/// forces is Yᵀw (plus what is in J̇v). Of Y only the rows are kept that move a block: what carries its bodies.
class StiffSystem {
 public:
  /// A strand in the system.
  struct Row {
    std::size_t block;    ///< index in blocks()
    Rows rows;            ///< which of the block's coordinates it feels
    Eigen::Vector3d arm;  ///< from the block's origin
    Eigen::Matrix3d K, B;
    double K_max, B_max;                ///< their largest eigenvalues
    Eigen::Vector3d delta_p, delta_dp;  ///< x(0)
    Eigen::Vector3d ddp_bar;
  };

  StiffSystem() = default;
  /// A system given by its terms, three coordinates to a strand, every strand a block of its own; K, B diagonal.
  StiffSystem(const Eigen::MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
              const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0);

  /// What drives the robot: forces along its degrees of freedom, and wrenches.
  struct Forces {
    const Eigen::VectorXd& along_dofs;
    const std::vector<ExternalWrench>& wrenches;
  };
  /// Evaluates all terms for the strands of an instant, with M, h and J of the last update_terms() and factor().
  /// @param at_start whether these are of the instant itself.
  void update(const RobotData& data, const StrandList& strands, const Forces& forces, bool at_start);

  /// Evaluates what depends on velocity again, with h of the last update_bias().
  void update_bias(const RobotData& data, const StrandList& strands, const Forces& forces);

  /// Those with active strands come first.
  const std::vector<Block>& blocks() const { return blocks_; }
  /// Coordinates of the blocks with active strands.
  Eigen::Index active_size() const { return active_size_; }
  std::size_t active_blocks() const { return active_blocks_; }
  /// Blocks that feel something of each other are in one group: Υ is zero between groups.
  std::size_t groups() const { return groups_; }
  std::size_t group_of(std::size_t block) const { return group_of_[block]; }
  /// One for every strand: active ones, then open ones, whose Δp and Δṗ mean nothing.
  const std::vector<Row>& rows() const { return rows_; }
  std::size_t active() const { return active_; }
  /// Whether a degree of freedom moves any strand.
  bool feels(Eigen::Index dof) const {
    return !dofs_.empty() && first_moved_[static_cast<std::size_t>(dof)] < blocks_.size();
  }
  /// The group of the strands that one moves.
  std::size_t group_moved_by(Eigen::Index dof) const { return group_of_[first_moved_[static_cast<std::size_t>(dof)]]; }
  const Eigen::MatrixXd& Upsilon_block() const { return Upsilon_block_; }
  const Eigen::VectorXd& w() const { return w_; }
  /// Calls f(dof, entries) with the rows of Y of a block.
  template <typename Function>
  void for_each_row_of_Y(std::size_t block, Function&& f) const {
    const auto [first, count] = supports_[block];
    const double* row = Y_.data() + rows_of_Y_[block];
    for (std::size_t a = first; a < first + count; ++a, row += blocks_[block].size) f(dofs_[a], row);
  }
  /// x += Y f for wrenches f on the first blocks.
  template <typename Wrench, typename Vector>
  void add_forces(std::size_t blocks, const Wrench& f, Vector&& x) const {
    for (std::size_t b = 0; b < blocks; ++b) {
      const Block& block = blocks_[b];
      for_each_row_of_Y(b, [&](Eigen::Index dof, const double* row) {
        double sum = 0.0;
        for (Eigen::Index i = 0; i < block.size; ++i) sum += row[i] * f(block.first + i);
        x(dof) += sum;
      });
    }
  }

  /// G_i x: motion of a strand for a motion x of the blocks' coordinates.
  template <typename Vector>
  Eigen::Vector3d motion_of(const Row& row, const Vector& x) const {
    return motion_of(row, blocks_[row.block].first, x);
  }
  /// The same where those of its block begin at `first`.
  template <typename Vector>
  Eigen::Vector3d motion_of(const Row& row, Eigen::Index first, const Vector& x) const {
    const Eigen::Index size = blocks_[row.block].size;
    if (size == 3) return x.template segment<3>(first);
    if (size == 1) return {x(first), 0.0, 0.0};
    if (row.rows == Rows::kAngular) return x.template segment<3>(first + 3);
    const Eigen::Vector3d linear = x.template segment<3>(first);
    return linear + Eigen::Vector3d(x.template segment<3>(first + 3)).cross(row.arm);
  }
  /// x += G_iᵀ f: the wrench on the blocks of a force f of a strand.
  template <typename Vector>
  void add_wrench(const Row& row, const Eigen::Vector3d& f, Vector&& x) const {
    add_wrench(row, blocks_[row.block].first, f, x);
  }
  template <typename Vector>
  void add_wrench(const Row& row, Eigen::Index first, const Eigen::Vector3d& f, Vector&& x) const {
    const Eigen::Index size = blocks_[row.block].size;
    if (size == 3) {
      x.template segment<3>(first) += f;
    } else if (size == 1) {
      x(first) += f.x();
    } else if (row.rows == Rows::kAngular) {
      x.template segment<3>(first + 3) += f;
    } else {
      x.template segment<3>(first) += f;
      x.template segment<3>(first + 3) += row.arm.cross(f);
    }
  }
  /// No stiffness of the first blocks.
  void clear_stiffness(std::size_t blocks, std::vector<DiagonalBlock>& matrix) const;
  /// block += GᵀQG of a strand, whose block it is.
  static void add_stiffness(const Row& row, const Eigen::Matrix3d& Q, DiagonalBlock& block);
  /// G_i of a strand, 3 × its block's size, in the left columns.
  Eigen::Matrix<double, 3, 6> G(const Row& row) const;

  /// The lowest K/m of an active strand by itself [1/s²]; infinite if none has a spring.
  double slowest_square() const {
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < active_; ++k) {
      const Block& block = blocks_[rows_[k].block];
      const auto inverse_mass = Upsilon_block_.diagonal().segment(block.first, std::min<Eigen::Index>(block.size, 3));
      if (rows_[k].K_max > 0.0) lowest = std::min(lowest, rows_[k].K_max * inverse_mass.mean());
    }
    return lowest;
  }
  /// Force of a holding strand after h, if no stiff force acted until then.
  Eigen::Vector3d force_ahead(const Row& row, double h) const {
    const Eigen::Vector3d delta_dp = row.delta_dp + h * row.ddp_bar;
    return -row.K * (row.delta_p + h * delta_dp) - row.B * delta_dp;
  }
  /// Υ_ij f: acceleration of a strand by a force of another, or its own.
  Eigen::Vector3d response(const Row& of, const Row& by, const Eigen::Vector3d& f) const;
  /// Υ between two strands, 3 × 3.
  Eigen::Matrix3d Upsilon(const Row& i, const Row& j) const;

  /// A and [b x0] of eq:contact_dyn for the stacked active strands, without use of the blocks: the paper's system.
  void full_system(Eigen::MatrixXd& A, Eigen::MatrixXd& b_x0) const;

 private:
  void group(const RobotData& data, const StrandList& strands, bool at_start);
  /// Puts a strand in its block, which is new if it is the first one there.
  void place(const Strand& strand, Row& row);
  void update_jacobians(const RobotData& data);
  void update_Upsilon();
  /// Blocks that a degree of freedom moves together are in one group.
  void find_groups();
  /// p̈̄ from w and the drift of the strands.
  void update_free_accelerations(const RobotData& data, const StrandList& strands);

  std::vector<Block> blocks_;
  std::vector<Row> rows_;
  std::size_t active_ = 0, active_blocks_ = 0, groups_ = 0;
  std::vector<std::size_t> group_of_;
  std::vector<std::size_t> first_moved_;  // by a degree of freedom: a block
  Eigen::Index active_size_ = 0;
  /// Degrees of freedom that move a block, ascending, as a range of dofs_; and where their rows of Y begin.
  struct Support {
    std::size_t first, count;
  };
  std::vector<Support> supports_;
  std::vector<Eigen::Index> dofs_;
  std::vector<std::size_t> rows_of_Y_;
  std::vector<double> Y_;  // one block after the other, row by row
  Eigen::MatrixXd Upsilon_block_;
  Eigen::VectorXd w_, acceleration_;
};

}  // namespace exposim
