#pragma once

#include <Eigen/Core>

#include "exposim/expo/joint_terms.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// Moves the robot by averages of the stiff forces.
///
///   v⁺ = v + dt M⁻¹(u + Jᵀλ̄),      q⁺ = q ⊕ (dt v + dt²/2 M⁻¹(u + Jᵀλ̄̄))           (eq:state_int_friction2)
class RobotUpdate {
 public:
  /// No forces.
  void clear(const StiffSystem& system);
  /// The averages of a strand.
  void add(const StiffSystem& system, const StiffSystem::Row& row, const Eigen::Vector3d& lam,
           const Eigen::Vector3d& lam2);
  /// Gᵀλ̄ and Gᵀλ̄̄ of all strands.
  const Eigen::MatrixX2d& wrenches() const { return wrenches_; }
  /// The largest average force of a strand [N].
  double largest() const { return largest_; }
  /// q and v after dt from those of a state; of bodies that fly freely, as the world sees them.
  /// @param joints of a whole step, which some of its joints move otherwise.
  void apply(const RobotData& data, const StiffSystem& system, const State& state, double dt, Eigen::VectorXd& q,
             Eigen::VectorXd& v, const JointTerms* joints = nullptr);
  /// Adds what drives did that were followed. @param size degrees of freedom.
  void add(const FollowedDrives& drives, Eigen::Index size, double dt);
  /// What the last one added to q, in coordinates: dt times the mean velocity.
  const Eigen::VectorXd& way() const { return dq_; }
  /// The same by the equation as it stands, in coordinates that turn with a free body: the paper's.
  void apply_in_coordinates(const RobotData& data, const StiffSystem& system, const State& state, double dt,
                            Eigen::VectorXd& q, Eigen::VectorXd& v, const JointTerms* joints = nullptr);

 private:
  Eigen::MatrixX2d wrenches_;
  double largest_ = 0.0;
  bool driven_ = false;
  Eigen::MatrixX2d along_dofs_;  // averages of forces likewise
  Eigen::MatrixX2d dv_;          // the accelerations that they give
  Eigen::VectorXd dq_;
};

}  // namespace exposim
