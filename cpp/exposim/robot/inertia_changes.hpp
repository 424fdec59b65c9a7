#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/motion_derivatives.hpp"
#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// By what the inertia of a body changes with a number: as in TreeJoint, or in world axes.
struct InertiaChange {
  std::size_t joint;
  double mass;
  Eigen::Vector3d mc;
  Eigen::Matrix3d I;
  Eigen::Vector3d o = Eigen::Vector3d::Zero();  ///< in world axes, where the frame's origin is
};
/// Of all bodies that change; M and h are linear in these.
using InertiaChanges = std::vector<InertiaChange>;
/// @param more, less robots that are alike, in which the number differs by so much.
InertiaChanges inertia_changes(const Robot& more, const Robot& less, double between);
/// The same in world axes, by the last kinematics.
InertiaChanges in_world(const RobotData& data, const InertiaChanges& changes);

// Of changes in world axes, and movers of the same kinematics:
/// ∂(M v̇ + h), by the last terms.
Eigen::VectorXd force_by_inertia(const RobotData& data, const Movers& movers, const BodyAccelerations& accelerations,
                                 const InertiaChanges& changes);
/// (∂M) a
Eigen::VectorXd momentum_by_inertia(const Robot& robot, const Movers& movers, const Eigen::VectorXd& a,
                                    const InertiaChanges& changes);
/// Aᵀ(∂M) A for the rates that are the columns of A; M⁻¹Jᵀ gives −∂Υ.
Eigen::MatrixXd products_by_inertia(const Robot& robot, const Movers& movers, const Eigen::MatrixXd& rates,
                                    const InertiaChanges& changes);

}  // namespace exposim
