#pragma once

#include "exposim/world.hpp"

namespace exposim {

/// Motion and mode of the strand of a limit: against that end of the joint's way.
void update_limit(const World& world, const State& state, std::size_t strand, Motion& motion, Memory& memory);

}  // namespace exposim
