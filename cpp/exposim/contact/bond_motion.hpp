#pragma once

#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Motion and displacement of a strand of a bond, by the last kinematics.
void update_bond(const World& world, const RobotData& data, const State& state, std::size_t strand, Motion& motion,
                 Memory& memory);

/// Adds the force of a strand to both sides.
void add_bond_force(const World& world, std::size_t strand, const Motion& motion, const Eigen::Vector3d& lam,
                    RobotData& data);

}  // namespace exposim
