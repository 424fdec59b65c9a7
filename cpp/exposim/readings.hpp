#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "exposim/event.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// What a contact of a body is like for that body: where it lies on an edge, it is the edge that its shape touches.
inline double side(const World& world, std::size_t contact) { return world.is_guest(contact) ? -1.0 : 1.0; }

/// An event in numbers: time, contact or degree of freedom, kind, velocity, force.
constexpr Eigen::Index kEventSize = 9;
inline Eigen::Matrix<double, 1, kEventSize> event_row(const World& world, const Event& event) {
  const bool contact = event.strand < world.contacts().size();
  const double sign = contact ? side(world, event.strand) : 1.0;
  const auto which = contact ? static_cast<Eigen::Index>(event.strand) : world.limit(event.strand).in_v;
  Eigen::Matrix<double, 1, kEventSize> row;
  row << event.t, static_cast<double>(which), static_cast<double>(event.kind), sign * event.velocity.transpose(),
      sign * event.force.transpose();
  return row;
}

}  // namespace exposim
