#pragma once

#include <cstddef>

namespace exposim {

/// Where a step is not differentiable, or nearly so. Its derivatives are then those to one side.
struct Grazing {
  enum class Kind : unsigned char {
    kTouch,         ///< a contact closes with hardly any velocity: beside this, it does not
    kTangential,    ///< what a mode ends by hardly passes zero
    kSimultaneous,  ///< several strands change at once: the derivative is that of one order of them
    kAtOnce,        ///< an event at the very start of a micro-step, the time of which is held
    kNoDirection,   ///< friction of a contact that slips at rest
    kHeldBack,      ///< friction that has no solution, as it is held back
    kChoice,        ///< a choice of the scheme, such as the number of micro-steps, is about to be another
    kEffort,        ///< a motor is told to give just what it has: of more, nothing would come
  };
  static constexpr std::size_t kNoStrand = static_cast<std::size_t>(-1);

  double t;            ///< since the start of the step [s]
  std::size_t strand;  ///< in the order of the instant, or kNoStrand
  Kind kind;
};

}  // namespace exposim
