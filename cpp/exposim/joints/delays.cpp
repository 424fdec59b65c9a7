#include "exposim/joints/delays.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

void remember_targets(const World& world, const Input& input, State& state) {
  auto& [all, count] = state.commands;
  const auto drop_oldest = [&, &all = all, &count = count] {
    std::rotate(all.begin(), all.begin() + 1, all.begin() + static_cast<std::ptrdiff_t>(count));
    --count;
  };
  while (count > 1 && all[1].t + world.longest_delay() <= state.t) drop_oldest();
  if (count > 0) {
    const Command& last = all[count - 1];
    if (last.target == input.target && last.velocity == input.target_velocity) return;
    if (last.t >= state.t) --count;  // given at this very time, and taken back
  }
  if (count == all.size()) drop_oldest();
  all[count].t = state.t;
  all[count].target = input.target;
  all[count].velocity = input.target_velocity;
  ++count;
}

void targets_in_force(const World& world, const State& state, double dt, VectorXd& target, VectorXd& velocity) {
  const auto& [all, count] = state.commands;
  target = world.joints().rest;
  velocity.setZero(world.robot().nv());
  for (const Index i : world.acting_dofs()) {
    const Motor& motor = world.joints().dofs[static_cast<std::size_t>(i)].motor;
    const Index in_q = world.robot().in_q(i);
    const double start = state.t - motor.delay, end = start + dt;
    for (std::size_t k = 0; k < count; ++k) {
      const double until = k + 1 < count ? all[k + 1].t : end;
      if (in_q < 0) {
        const double middle = 0.5 * (start + end);
        if (middle < all[k].t || (k + 1 < count && middle >= until)) continue;
        world.robot().copy_joint(i, all[k].target, target);
        velocity(i) = all[k].velocity(i);
        continue;
      }
      const double share = (std::clamp(until, start, end) - std::clamp(all[k].t, start, end)) / dt;
      target(in_q) += share * (all[k].target(in_q) - world.joints().rest(in_q));
      velocity(i) += share * all[k].velocity(i);
    }
  }
}

}  // namespace exposim
