#pragma once

#include <Eigen/Core>

namespace exposim {

/// What an element is doing.
enum class Mode : unsigned char {
  kOpen,      ///< above the surface: no force
  kIdle,      ///< below it, but moving away too fast for a pushing force
  kSticking,  ///< spring-damper to the anchor
  kSlipping,  ///< Coulomb friction against the sliding velocity
  kBound,     ///< bilateral
};
constexpr int kModes = 5;

/// What the future of an element depends on, beside the robot's q and v.
struct Memory {
  int surface = -1;  ///< in World::surfaces(), that it touches or belongs to; −1: none
  Mode mode = Mode::kOpen;
  double phi0 = 0.0;                            ///< gap at which the normal spring is at rest [m]
  Eigen::Vector3d s = Eigen::Vector3d::Zero();  ///< stretch from the anchor, tangential unless bound [m]
  int guest = -1;  ///< point of an edge of the world that touches the surface, see World::guest_point(); −1: none

  bool active() const { return mode != Mode::kOpen; }
  /// Without a hold: slipping, or without force.
  bool slipping() const { return mode == Mode::kSlipping || mode == Mode::kIdle; }
};

}  // namespace exposim
