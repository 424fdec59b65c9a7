#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <utility>
#include <vector>

#include "exposim/instant.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Up to three rows of an element that takes part in a step: what it is, how it starts.
struct Strand {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t index;  ///< in the instant; kNone: an open contact that has no slot yet
  std::size_t point;  ///< of a contact, in Robot::points(); kNone of a bond or limit
  Rows rows;
  std::size_t a, b;          ///< joints of its two bodies, 0 the world; for a coordinate `b` is where it stands in v
  Eigen::Vector3d position;  ///< of the point, or of the centre of its sphere, in a's frame [m]
  const Law* law;
  Motion motion;
  Memory memory;
};

/// The strands of a step: those that touch or are bound, in the order of the instant; then open contacts that may close
/// within dt, none of which travels further than its speed and the largest acceleration let it.
class StrandList {
 public:
  StrandList() = default;
  StrandList(std::vector<Strand> strands, std::size_t active) : strands_(std::move(strands)), active_(active) {}

  /// @param max_acceleration of an open contact towards a surface [m/s²]; negative: open contacts are left out.
  void gather(const World& world, RobotData& data, const Instant& instant, double dt, double max_acceleration);
  /// Turns contacts with curved surfaces to the normal where they will be after h: gap, its rate and stretch go along.
  /// @return the largest angle by which a normal turns past the point [rad].
  double turn_ahead(const World& world, double h);

  /// By how much; nothing if they are as they were gathered.
  double turned_ahead() const { return turned_ahead_; }

  /// Adds a law along a coordinate, behind all others; they end with the first `count`.
  void add_coordinate(const World& world, Eigen::Index dof, double v, const Law& law);
  void keep(std::size_t count) { strands_.resize(count); }

  const std::vector<Strand>& all() const { return strands_; }
  /// Whether any is without a hold.
  bool slips() const {
    return std::any_of(strands_.begin(), strands_.end(), [](const Strand& each) { return each.memory.slipping(); });
  }
  /// How many of them touch or are bound.
  std::size_t active() const { return active_; }

 private:
  void add(const World& world, const Instant& instant, std::size_t index);
  void add_open(const World& world, std::size_t index, std::size_t point, int surface, const Motion& motion);

  std::vector<Strand> strands_;
  std::size_t active_ = 0;
  double turned_ahead_ = 0.0;
};

/// Lowest value of φ + dφ t + a t²/2 for 0 ≤ t ≤ dt.
double lowest_gap(double phi, double dphi, double a, double dt);

}  // namespace exposim
