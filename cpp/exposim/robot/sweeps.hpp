#pragma once

#include <Eigen/Core>

#include "exposim/robot/tree_data.hpp"

namespace exposim {

// Rigid-body terms in sweeps over the tree, outwards for motions and inwards for forces, in world axes.

/// Placements and velocities.
void sweep_motions(const Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v, TreeData& data);
/// Placements, velocities, drifts, columns, M and h.
void sweep_terms(const Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v, TreeData& data);
/// Velocities, drifts and h at another velocity, with the placements of the last sweep_terms.
void sweep_bias(const Tree& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v, TreeData& data);

}  // namespace exposim
