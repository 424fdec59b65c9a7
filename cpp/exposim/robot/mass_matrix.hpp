#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// M, h and the joint Jacobians; placements and velocities along with them.
void update_terms(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
/// h alone, at another velocity; q as it was there, and with no update_kinematics since.
void update_bias(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

// Of the last update_terms and update_bias:
/// M = L Lᵀ
void factor(RobotData& data);
/// M + diag(added) = L Lᵀ
void factor(RobotData& data, const Eigen::VectorXd& added);
/// u = f + Jₑᵀwₑ − h with forces f along the degrees of freedom.
void applied_force(const RobotData& data, const Eigen::VectorXd& along_dofs,
                   const std::vector<ExternalWrench>& wrenches, Eigen::VectorXd& u);

/// Mᵢᵢ: the inertia that a degree of freedom feels while all others are held.
double own_inertia(const RobotData& data, Eigen::Index dof);
/// 1/(M⁻¹)ᵢᵢ: the inertia that a degree of freedom feels while all others are free, after factor().
double felt_inertia(const RobotData& data, Eigen::Index dof);

// L has the sparsity of the tree: where x is zero but for the supports of some bodies, so is L⁻¹x.
/// Solves L y = x in place for rows of `size` entries, those of the degrees of freedom that move some bodies,
/// ascending; all others are zero.
void solve_L_in_place(const RobotData& data, const std::vector<Eigen::Index>& dofs, std::size_t first,
                      std::size_t count, Eigen::Index size, double* rows);
void solve_L_in_place(const RobotData& data, Eigen::VectorXd& x);
void solve_L_in_place(const RobotData& data, Eigen::MatrixX2d& x);
/// Solves Lᵀ y = x in place.
void solve_Lt_in_place(const RobotData& data, Eigen::MatrixX2d& x);
void solve_Lt_in_place(const RobotData& data, Eigen::VectorXd& x);

}  // namespace exposim
