#include "exposim/contact/missed.hpp"

#include <algorithm>
#include <cmath>

#include "exposim/contact/evaluation.hpp"

namespace exposim {

namespace {

/// Whether an open contact of a point with a surface was taken along.
bool taken_along(const StrandList& strands, std::size_t point, int surface) {
  return std::any_of(strands.all().begin() + static_cast<std::ptrdiff_t>(strands.active()), strands.all().end(),
                     [&](const Strand& strand) { return strand.point == point && strand.memory.surface == surface; });
}

}  // namespace

double lowest_gap_between(double phi, double dphi, double phi_end, double dphi_end, double dt) {
  double lowest = std::min(phi, phi_end);
  const double from = dt * dphi, to = dt * dphi_end;
  if (std::min(phi + from / 3.0, phi_end - to / 3.0) >= lowest) return lowest;  // its Bézier points bound it
  const double way = phi_end - phi;
  const double c2 = 3.0 * way - 2.0 * from - to, c3 = from + to - 2.0 * way;
  const double root = std::sqrt(std::max(0.0, c2 * c2 - 3.0 * c3 * from));
  // Where its slope, from + 2 c2 s + 3 c3 s², rises through zero; a form in which a vanishing c3 does no harm.
  const double s = c2 + root > 0.0 ? -from / (c2 + root) : 1.0;
  if (s > 0.0 && s < 1.0) lowest = std::min(lowest, phi + s * (from + s * (c2 + s * c3)));
  return lowest;
}

double turn_of_normals(const World& world, const RobotData& data, const StrandList& strands) {
  double least = 1.0;  // of the cosines
  for (const Strand& strand : strands.all()) {
    const int surface = strand.memory.surface;
    if (strand.point == Strand::kNone || surface < 0) continue;
    if (world.joint_of(surface) == 0 && world.surface(surface).is_flat()) continue;
    const Motion end = contact_motion(world, data, strand.point, surface);
    if (end.phi > 0.0 && !strand.memory.active()) continue;
    least = std::min(least, along_with_carrier(strand.motion, end, strand.motion.n).dot(end.n));
  }
  return least < 1.0 ? std::acos(std::max(least, -1.0)) : 0.0;
}

bool missed_landing(const World& world, const StrandList& strands, const Instant& before, const Instant& after,
                    double dt) {
  for (std::size_t i = world.first_limit(), end = world.strands(); i < end; ++i) {
    if (before.state.memory[i].active() || !after.state.memory[i].active()) continue;
    const bool along = std::any_of(strands.all().begin(), strands.all().end(),
                                   [&](const Strand& strand) { return strand.index == i; });
    if (!along) return true;
  }
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    const std::size_t point = world.point_of(i, after.state.memory[i]);
    const int surface = after.state.memory[i].surface;
    if (surface < 0) continue;
    if (world.changes_hands(i)) {
      if (!has_slot(world, before.state, point, surface) && !taken_along(strands, point, surface)) return true;
      continue;
    }
    if (before.state.memory[i].active()) continue;
    const Motion &start = before.motions[i], &end = after.motions[i];
    const double lowest = lowest_gap_between(start.phi, start.n.dot(start.dp), end.phi, end.n.dot(end.dp), dt);
    if (lowest <= 0.0 && !taken_along(strands, point, surface)) return true;
  }
  return false;
}

}  // namespace exposim
