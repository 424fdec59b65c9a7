#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/strand_coordinates.hpp"
#include "exposim/expo/tangent_products.hpp"
#include "exposim/step_tangent.hpp"

namespace exposim {

/// How the frozen stiff system of a step (StiffSystem) changes with each direction.
///
/// Strands are stacked, three rows to each; of one along a coordinate only the first counts, the others are zero.
/// Behind them comes one row for every degree of freedom in `dofs`, which drives that are followed move along.
struct SystemTangent {
  std::vector<Eigen::Index> dofs;
  std::vector<Eigen::MatrixXd> Upsilon_by_q;  ///< ∂Υ/∂q_k: of coordinates (below) and dofs, one to each row of dq
  Tangent dq;                                 ///< of the configuration at which Υ is taken, then of masses
  Tangent ddp_bar;                            ///< of strands and dofs; plus dΥ f where forces f are held
  Tangent delta, dp;                          ///< of displacements from the anchor and velocities at the start

  /// What a law's material changes by, if that is differentiated by; else empty. One to each strand, with rows K_n,
  /// K_t, B_n, B_t, μ (of a limit K, –, B, –, –; of a drive K, –, D, –, its constant force).
  std::vector<Tangent> materials;
  /// Of drives that are followed beside the strands (FollowedDrives), in their order, with rows force, K, D, X, fitted
  /// and v at the start; a drive without any rows changes by nothing but how it moves. ∂Υ/∂q and p̈̄ are those with X.
  std::vector<Tangent> drives;
  /// Of axes that keep to normals that turn, three rows to each of these: ∂Υ/∂q has as many more, between those of q
  /// and of masses.
  Tangent turns;
  Tangent dq_turns;  ///< dq with those, where there are any
  /// Of strands and dofs, what is held in ddp_bar; and what is in another one, for displacements, if there is any.
  /// Empty: nothing.
  Eigen::VectorXd held, held2;
  Tangent ddp_bar2;
  /// Also of strands that did not act it is asked where they came to; else the rows above say nothing of them.
  bool all_strands = true;

  /// Coordinates of all strands in which forces over the step are asked for, and in which ∂Υ/∂q is; empty: three to
  /// each strand.
  StrandCoordinates coordinates;
  /// Of bodies with several points Υ is known by six coordinates, as if the arms kept their directions. They turn:
  struct Arms {
    Eigen::Index first;                    ///< of its coordinates
    std::size_t joint;                     ///< of the body
    std::vector<std::size_t> strands;      ///< its points ...
    std::vector<Eigen::Vector3d> turning;  ///< ... and what turns of their arms
  };
  std::vector<Arms> arms;
  Tangent arms_turn;        ///< of each of these, three rows: how the body turns
  Eigen::MatrixXd Upsilon;  ///< of coordinates and dofs, where there are such

  /// What ∂Υ/∂q is multiplied with.
  const Tangent& moves() const { return turns.rows() > 0 ? dq_turns : dq; }
  Eigen::Index directions() const { return dp.cols(); }
  /// dΥ f: the change of the accelerations that forces f cause, all rows.
  Tangent change_of(const Eigen::VectorXd& f) const {
    RowMatrixXd by_q(f.size(), static_cast<Eigen::Index>(Upsilon_by_q.size()));
    for (Eigen::Index k = 0; k < by_q.cols(); ++k) {
      by_q.col(k).noalias() = Upsilon_by_q[static_cast<std::size_t>(k)] * f;
    }
    return product(by_q, moves());
  }
};

}  // namespace exposim
