#pragma once

#include <cstddef>

namespace exposim {

/// Where a step is not differentiable, or nearly so. Its derivatives are then those to one side.
struct Grazing {
  enum class Kind : unsigned char {
    kTouch,         ///< a contact closes or opens with next to no speed
    kSimultaneous,  ///< several contacts change at once: in which order decides
    kSlipAtRest,    ///< a contact begins to slip with no velocity that says which way
    kTangential,    ///< a mode ends where its margin hardly falls
    kChoice,        ///< a choice of the scheme, such as the number of micro-steps, is about to be another
  };
  static constexpr std::size_t kNoStrand = static_cast<std::size_t>(-1);

  double t;            ///< since the start of the step [s]
  std::size_t strand;  ///< in the order of the instant, or kNoStrand
  Kind kind;
};

}  // namespace exposim
