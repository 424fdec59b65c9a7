#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/input.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// M with its Cholesky factor M = L Lᵀ, h and the joint Jacobians; placements and velocities along with them.
void update_terms(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);
/// h alone, at another velocity.
void update_bias(RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

// Of the last update_terms and update_bias:
/// u = Sᵀτ − d∘v + Jₑᵀwₑ − h
void applied_force(const RobotData& data, const Eigen::VectorXd& v, const Input& input, Eigen::VectorXd& u);

// L has the sparsity of the tree: where x is zero but for the supports of some bodies, so is L⁻¹x.
/// Solves L y = x in place, for all columns, which are zero outside the given rows.
void solve_L_in_place(const RobotData& data, RowMatrixXd& x, const std::vector<Eigen::Index>& rows);
void solve_L_in_place(const RobotData& data, Eigen::VectorXd& x);
/// Solves Lᵀ y = x in place.
void solve_Lt_in_place(const RobotData& data, Eigen::MatrixX2d& x);
void solve_Lt_in_place(const RobotData& data, Eigen::VectorXd& x);

}  // namespace exposim
