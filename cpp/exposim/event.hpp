#pragma once

#include <cstddef>

#include "exposim/stiff/memory.hpp"

namespace exposim {

/// A strand changed its mode within a step.
struct Event {
  double t;            ///< since the start of the step [s]
  std::size_t strand;  ///< in the order of the instant
  Mode from, to;
};

}  // namespace exposim
