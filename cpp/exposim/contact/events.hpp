#pragma once

#include "exposim/instant.hpp"
#include "exposim/step.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Tells the events of a step that was committed, from the changes of modes that its scheme followed, in the order of
/// time. Where these do not lead from what a strand was to what it is, the rest took place at the end; a gap that
/// closed or opened unseen did so where a straight line has it.
/// @param step from `before`, of dt; its events are made anew.
void tell_events(const World& world, const Instant& before, double dt, Step& step);

}  // namespace exposim
