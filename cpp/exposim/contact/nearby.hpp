#pragma once

#include <Eigen/Core>

#include "exposim/robot/kinematics.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Calls visit(surface) for every surface that a point may touch and whose distance from it is not above `reach`, by
/// the last kinematics. Of those far away only their bounds are looked at.
/// @param dt in which a body may carry its surfaces closer.
template <typename Visit>
void for_each_near(const World& world, const RobotData& data, std::size_t point, double reach, double dt,
                   Visit&& visit) {
  const ContactPoint shape = world.shape(point);
  const Eigen::Vector3d centre = world_position(data, shape.joint, shape.position);
  world.standing().near(centre, reach, [&](int k) {
    if (world.may_touch(point, k) && world.surface(k).distance(centre) <= reach) visit(k);
  });
  for (const int k : world.carried()) {
    if (!world.may_touch(point, k)) continue;
    const std::size_t joint = world.surfaces()[static_cast<std::size_t>(k)].joint;
    const Eigen::Vector3d there = position_in(data, joint, centre);
    const double moved = reach + dt * point_motion(data, joint, there).velocity.norm();
    const Ball& ball = world.bounds(k);
    if ((there - ball.centre).norm() - ball.radius <= moved && world.surface(k).distance(there) <= moved) visit(k);
  }
}

/// Calls visit(edge) for every edge that a shape which a body carries may meet and come closer to than `reach`.
template <typename Visit>
void for_each_near_edge(const World& world, const RobotData& data, int surface, double reach, Visit&& visit) {
  const Ball& ball = world.bounds(surface);
  const Eigen::Vector3d centre = world_position(data, world.joint_of(surface), ball.centre);
  world.standing_edges().near(centre, ball.radius + reach, [&](int k) {
    if (world.may_meet(surface, world.edges()[static_cast<std::size_t>(k)].surface)) visit(k);
  });
  for (const World::CarriedEdges& carried : world.carried_edges()) {
    if (!world.may_meet(surface, carried.surface)) continue;
    const Ball& other = world.bounds(carried.surface);
    const Eigen::Vector3d there = world_position(data, world.joint_of(carried.surface), other.centre);
    if ((there - centre).norm() > ball.radius + other.radius + reach) continue;
    for (int k = carried.first; k < carried.last; ++k) visit(k);
  }
}

}  // namespace exposim
