#pragma once

#include <Eigen/Core>

#include "exposim/contact/evaluation.hpp"
#include "exposim/contact/nearby.hpp"

namespace exposim {

/// Bound on the speed of what a shape that a body carries is made of [m/s].
double fastest_point(const World& world, const RobotData& data, int surface);

/// Where an edge is closest to a shape that a body carries, in the frame of the edge [m].
Eigen::Vector3d closest_on_edge(const World& world, const RobotData& data, const Edge& edge, int surface);
/// Makes of the motion of a point that of the place where its edge is closest: as the shape moves, that slides along
/// the edge, in which direction the shape has then no curvature.
///
///   n·e = 0 along the edge:   ∇²φ(ċ + ṡe)·e + n·(ω × e) = 0
///
/// @param place in the frame of the edge.
/// @param omega of the edge, past the shape [rad/s].
void slide_along(const RobotData& data, const Edge& edge, const Eigen::Vector3d& place, const Eigen::Vector3d& omega,
                 Motion& motion);

/// Numbers of two points of an edge; none if they are the same.
struct EdgePoints {
  int first, last;
};
/// Where a flat face lies along an edge, or over it: the first and the last of its points that are as close as the
/// closest, if there are many. They are the same before and after it is touched.
EdgePoints lying_on_edge(const World& world, const RobotData& data, const Edge& edge, int surface,
                         const Motion& closest);
/// Whether a place on an edge is at an end where its body has a contact point, so that nothing is missed there.
bool has_contact_point(const Edge& edge, const Eigen::Vector3d& place);

/// Whether an edge is further from a shape than `reach`, by the distance of its middle.
bool is_far(const World& world, const RobotData& data, const Edge& edge, int surface, double reach);

/// Calls visit(point, motion) for points of edges closer to a shape than `reach`: of each edge the closest, or where a
/// flat face lies on it, the first and the last. Left out are ends that have a contact point of their own.
template <typename Visit>
void for_each_guest(const World& world, const RobotData& data, int surface, double reach, Visit&& visit) {
  if (world.surfaces()[static_cast<std::size_t>(surface)].guests == 0) return;
  for_each_near_edge(world, data, surface, reach, [&](int k) {
    const Edge& edge = world.edges()[static_cast<std::size_t>(k)];
    if (is_far(world, data, edge, surface, reach)) return;
    const std::size_t closest = world.guest_point(world.closest_guest(k));
    const Motion motion = contact_motion(world, data, closest, surface);
    if (motion.phi > reach) return;
    const EdgePoints lying = lying_on_edge(world, data, edge, surface, motion);
    if (lying.first == lying.last) {
      if (!has_contact_point(edge, motion.place)) visit(closest, motion);
      return;
    }
    for (const int i : {lying.first, lying.last}) {
      const std::size_t point = world.guest_point(world.guest(k, i));
      if (!has_contact_point(edge, edge.at(i))) visit(point, contact_motion(world, data, point, surface));
    }
  });
}

}  // namespace exposim
