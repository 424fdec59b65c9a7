#include "exposim/integrators/step_control.hpp"

#include <algorithm>
#include <limits>

#include "exposim/thresholds.hpp"

namespace exposim {

bool TurnLimit::accepts(const Step& tried, double h, bool whole, double& longest) const {
  if (max_turn_ == std::numeric_limits<double>::infinity()) return true;
  const bool limited = whole && tried.transitions.limited;
  if (!tried.diverged && !limited && tried.parts.turn <= thresholds::kTurnSlack * max_turn_) return true;
  const double turned = std::max(tried.parts.turn, limited ? thresholds::kPartsWhenLimited * max_turn_ : 0.0);
  longest = tried.diverged ? 0.0 : h * max_turn_ / turned;
  return false;
}

void PartedStep::begin(Step& step, int redone) {
  step.clear(static_cast<std::size_t>(step.lam.size()) / 3);
  step.parts.count = 0;
  step.parts.redone = redone;
}

void PartedStep::add(double h, double left, double dt, Step& step) {
  const double share = h / dt;
  step.diverged = part_.diverged;
  step.error += part_.error;
  step.lam += share * part_.lam;
  step.lam2 += share * (share * part_.lam2 + 2.0 * left / dt * part_.lam);
  if (step.parts.count == 0) step.motors.clear(part_.motors.torque.size());
  step.motors.add(share, part_.motors);
  for (const Event& event : part_.events) {
    step.events.push_back(event);
    step.events.back().t += dt - left - h;
  }
  step.kernel.degree = std::max(step.kernel.degree, part_.kernel.degree);
  step.kernel.squarings = std::max(step.kernel.squarings, part_.kernel.squarings);
  step.kernel.products += part_.kernel.products;
  step.kernel.error_bound = std::max(step.kernel.error_bound, part_.kernel.error_bound);
  step.transitions.resolved |= part_.transitions.resolved;
  step.transitions.micro_steps += part_.transitions.micro_steps;
  step.transitions.events += part_.transitions.events;
  step.transitions.limited |= part_.transitions.limited;
  step.parts.count += 1;
  step.parts.redone += part_.parts.redone;
  step.parts.turn = std::max(step.parts.turn, part_.parts.turn);
  part_.next.overflows += step.parts.count > 1 ? from_.overflows : 0;
  std::swap(from_, part_.next);
}

}  // namespace exposim
