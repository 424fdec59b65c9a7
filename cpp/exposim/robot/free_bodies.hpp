#pragma once

#include <Eigen/Core>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Moves the origins c of the bodies that fly freely in the world (free-flyer joints on it) as the world sees them:
///
///   ċ⁺ = ċ + dt c̈,      c⁺ = c + dt ċ + dt²/2 c̈₂,      c̈ = R (dv + ω × v) where the terms were taken
///
/// Their coordinates are ċ in axes that turn with the body. By these an explicit step of a flight at constant ċ gains
/// speed, (‖ω‖dt)⁴/8 of it, and what a contact feels of c̈ is not what moves the robot.
/// @param dv rates of v that move v, and q. @param q, v after dt; turned as they are to be.
void move_free_bodies(const RobotData& data, const Eigen::VectorXd& q_start, const Eigen::VectorXd& v_start,
                      const Eigen::MatrixX2d& dv, double dt, Eigen::VectorXd& q, Eigen::VectorXd& v);

}  // namespace exposim
