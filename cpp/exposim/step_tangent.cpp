#include "exposim/step_tangent.hpp"

#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Index;

CountingDirections::CountingDirections(const Directions& all, const World& world, const Instant& start,
                                       std::size_t count, const std::function<bool(std::size_t)>& turns)
    : Directions(all),
      stretch_of_(start.state.memory.size(), Columns{0, 0}),
      force_of_(static_cast<std::size_t>(all.nv), -1) {
  size = 0;
  add(0, all.stretches);
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    const Memory& memory = start.state.memory[i];
    if (!memory.active()) continue;
    const Index rows = memory.mode != Mode::kBound && !turns(i) && std::abs(start.motions[i].n.z()) == 1.0 ? 2 : 3;
    stretch_of_[i] = {add(all.stretch(i), rows), rows};
  }
  grips = add(all.grips, all.forces - all.grips);
  forces = size;
  if (all.by_forces()) {
    for (const int dof : world.robot().actuated()) force_of_[static_cast<std::size_t>(dof)] = add(all.force(dof), 1);
  }
  wrenches = add(all.wrenches, all.parameters - all.wrenches);
  parameters = add(all.parameters, static_cast<Index>(count));
  size = (size + 3) / 4 * 4;
}

Index CountingDirections::add(Index of_all, Index count) {
  const Index first = size;
  if (count == 0) return first;
  const bool goes_on = !runs_.empty() && runs_.back().to + runs_.back().count == of_all;
  if (goes_on) {
    runs_.back().count += count;
  } else {
    runs_.push_back({first, of_all, count});
  }
  size += count;
  return first;
}

void CountingDirections::put(const Tangent& rows, Index first, Tangent& all) const {
  for (Index i = 0; i < rows.rows(); ++i) {
    const double* const from = rows.row(i).data();
    double* const to = all.row(first + i).data();
    for (const Run& each : runs_) std::copy_n(from + each.from, each.count, to + each.to);
  }
}

}  // namespace exposim
