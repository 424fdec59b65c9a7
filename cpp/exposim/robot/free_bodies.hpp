#pragma once

#include <Eigen/Core>

#include "exposim/robot/robot_data.hpp"

namespace exposim {

/// Moves bodies that fly freely in the world (free-flyer joints on it) as the world sees them: of one that carries
/// nothing the centre of mass, so that its momentum changes by the forces alone; of all others the origin c.
///
///   ċ⁺ = ċ + dt c̈,      c⁺ = c + dt ċ + dt²/2 c̈₂,      c̈ = R (dv + ω × v) where the terms were taken
///
/// Their coordinates are ċ in axes that turn with the body. By these an explicit step of a flight at constant ċ gains
/// speed, (‖ω‖dt)⁴/8 of it, and what a contact feels of c̈ is not what moves the robot.
/// @param dv rates of v that move v, and q. @param q, v after dt; turned as they are to be.
void move_free_bodies(const RobotData& data, const Eigen::VectorXd& q_start, const Eigen::VectorXd& v_start,
                      const Eigen::MatrixX2d& dv, double dt, Eigen::VectorXd& q, Eigen::VectorXd& v);

/// Turns a change of velocities as the world sees it: from the axes of free bodies where the terms were taken to those
/// of the last update_kinematics.
void turn_free_bodies(const RobotData& data, Eigen::Ref<Eigen::VectorXd> dv);
/// Keeps the velocities of free bodies as the world sees them, where q was changed.
void keep_free_bodies(const RobotData& data, const Eigen::VectorXd& q_before, const Eigen::VectorXd& q,
                      Eigen::VectorXd& v);

}  // namespace exposim
