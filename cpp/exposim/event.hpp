#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "exposim/stiff/memory.hpp"

namespace exposim {

/// A strand changed its mode within a step.
struct ModeChange {
  double t;            ///< since the start of the step [s]
  std::size_t strand;  ///< in the order of the instant
  Mode from, to;
  Eigen::Vector3d velocity;  ///< just before [m/s]
  Eigen::Vector3d force;     ///< just after [N]
};

/// All that events tell apart.
enum class Hold : unsigned char { kNone, kFast, kLoose };

/// What is left without force for a moment is what it was before: it does not slip.
inline Hold hold_in(Mode mode, Hold before = Hold::kNone) {
  if (mode == Mode::kOpen) return Hold::kNone;
  if (mode == Mode::kIdle && before != Hold::kNone) return before;
  return mode == Mode::kSlipping ? Hold::kLoose : Hold::kFast;
}

/// What happened to a contact or a limit. Of each, landings and liftings alternate, or limits and releases; between a
/// landing, which sticks, and the lifting slips and sticks do.
struct Event {
  enum class Kind : unsigned char { kLand, kLift, kSlip, kStick, kLimit, kRelease };

  double t;            ///< since the start of the step [s]
  std::size_t strand;  ///< in the order of the instant
  Kind kind;
  Eigen::Vector3d velocity;  ///< just before [m/s]
  Eigen::Vector3d force;     ///< just after [N]
};

}  // namespace exposim
