#include "exposim/contact/guests.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

/// An edge as the body sees it that carries the shape.
struct SeenEdge {
  Vector3d start, along;

  SeenEdge(const RobotData& data, const Edge& edge, std::size_t joint)
      : start(position_in(data, joint, world_position(data, edge.joint, edge.start))),
        along(rotation(data, joint).transpose() * (rotation(data, edge.joint) * edge.direction)) {}
  Vector3d at(double s) const { return start + s * along; }
};

}  // namespace

double fastest_point(const World& world, const RobotData& data, int surface) {
  const Ball& ball = world.bounds(surface);
  const PointMotion middle = point_motion(data, world.joint_of(surface), ball.centre);
  return middle.velocity.norm() + ball.radius * middle.omega.norm();
}

Vector3d closest_on_edge(const World& world, const RobotData& data, const Edge& edge, int surface) {
  const Ball& ball = world.bounds(surface);
  const SeenEdge seen(data, edge, world.joint_of(surface));
  const double middle = seen.along.dot(ball.centre - seen.start);
  const double first = edge.is_endless() ? middle - ball.radius : 0.0;
  const double last = edge.is_endless() ? middle + ball.radius : edge.length();
  double low = std::clamp(middle - ball.radius, first, last), high = std::clamp(middle + ball.radius, first, last);
  double at = std::clamp(middle, low, high);
  // The distance of a convex shape is convex along a line: its slope rises through zero, or is of one sign.
  for (int look = 0; look < thresholds::kMostLooks && high - low > thresholds::kClosest; ++look) {
    const Touch touch = world.surface(surface).query(seen.at(at));
    const double slope = touch.n.dot(seen.along), bend = seen.along.dot(touch.curvature * seen.along);
    if (slope == 0.0) break;
    (slope > 0.0 ? high : low) = at;
    const double next = bend > 0.0 ? at - slope / bend : low;
    const bool within = next > low && next < high;
    const double moved = within ? next : 0.5 * (low + high);
    if (within && std::abs(moved - at) <= thresholds::kClosest) break;
    at = moved;
  }
  return edge.start + at * edge.direction;
}

void slide_along(const RobotData& data, const Edge& edge, const Vector3d& place, const Vector3d& omega,
                 Motion& motion) {
  const Vector3d along = rotation(data, edge.joint) * edge.direction, bend = motion.curvature * along;
  const double bending = along.dot(bend);
  motion.slides = true;
  motion.place = place;
  motion.sliding.setZero();
  motion.swing.setZero();
  if (!motion.curved || !(bending > thresholds::kFlat)) return;
  const double swing = motion.n.dot(omega.cross(along));
  motion.sliding = -(bend.dot(motion.dc) + swing) / bending * edge.direction;
  motion.swing = -swing / bending * bend;
  motion.curvature -= bend * bend.transpose() / bending;
}

EdgePoints lying_on_edge(const World& world, const RobotData& data, const Edge& edge, int surface,
                         const Motion& closest) {
  const Ball& ball = world.bounds(surface);
  const SeenEdge seen(data, edge, world.joint_of(surface));
  const double at = edge.direction.dot(closest.place - edge.start) / edge.spacing;
  const double reach = closest.phi + edge.radius + thresholds::kEvenOnEdge;
  const auto lies = [&](int i) { return world.surface(surface).distance(seen.at(i * edge.spacing)) <= reach; };
  const int far = static_cast<int>(2.0 * (ball.radius + std::abs(reach)) / edge.spacing) + 1;
  const auto bounded = [&](int i) { return edge.is_endless() ? i : std::clamp(i, 0, edge.count - 1); };
  // Those that lie on it are neighbours.
  const auto furthest = [&](int from, int way) {
    int in = from, out = bounded(from + way * far);
    if (!lies(in)) return in - way;
    if (lies(out)) return out;
    while (std::abs(out - in) > 1) {
      const int middle = in + (out - in) / 2;
      (lies(middle) ? in : out) = middle;
    }
    return in;
  };
  const int first = furthest(bounded(static_cast<int>(std::floor(at))), -1);
  const int last = furthest(bounded(static_cast<int>(std::ceil(at))), 1);
  return last - first < thresholds::kFlatOnEdge ? EdgePoints{0, 0} : EdgePoints{first, last};
}

bool is_far(const World& world, const RobotData& data, const Edge& edge, int surface, double reach) {
  if (edge.is_endless()) return false;
  const Ball ball = edge.bounds();
  const Vector3d middle = position_in(data, world.joint_of(surface), world_position(data, edge.joint, ball.centre));
  return world.surface(surface).distance(middle) > ball.radius + reach;
}

bool has_contact_point(const Edge& edge, const Vector3d& place) {
  if (edge.joint == 0 || edge.is_endless()) return false;
  const double at = edge.direction.dot(place - edge.start), margin = 0.5 * edge.spacing;
  return at < margin || at > edge.length() - margin;
}

}  // namespace exposim
