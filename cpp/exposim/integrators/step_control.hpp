#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "exposim/instant.hpp"
#include "exposim/step.hpp"

namespace exposim {

/// Decides how long a part of a step may be: terms are frozen over it, so that no body may turn far.
///
/// Judged before a part by how fast bodies turn where it starts, and after it by what they did: an impact within it can
/// spin something up.
class TurnLimit {
 public:
  /// @param max_turn of a body within a part [rad]; infinite: steps are not divided.
  explicit TurnLimit(double max_turn) : max_turn_(max_turn) {}

  /// Longest part that is to start at an instant [s].
  double longest_from(const Instant& now) const { return max_turn_ / now.turn_rate; }
  /// Whether a part of h that was tried is good enough; if not, how long it should have been is in `longest`.
  /// @param whole it was the whole step: one in which more happened than is located is taken again in parts, once.
  bool accepts(const Step& tried, double h, bool whole, double& longest) const;

 private:
  double max_turn_;
};

/// Takes a step in parts, each a whole step of the scheme, from instant to instant.
///
/// What the step reports is of all its parts: with parts of length hᵢ that end at tᵢ,
///
///   λ̄ dt = Σ hᵢ λ̄ᵢ,      λ̄̄ dt²/2 = Σ (hᵢ²/2 λ̄̄ᵢ + (dt − tᵢ) hᵢ λ̄ᵢ),
///
/// the impulse, and the way on which it leads until the end of the step.
class PartedStep {
 public:
  /// @param most parts; beyond, they are as long as it takes, whatever the limit says.
  /// @param take (from, h, part): one step of the scheme, of h from an instant.
  /// @param keep is called where a part taken last is kept, if there are several.
  template <typename Limit, typename Take, typename Keep>
  void drive(const Limit& limit, int most, const Instant& now, double dt, Take&& take, Keep&& keep, Step& step) {
    double longest = limit.longest_from(now);
    int redone = 0;
    if (longest >= dt) {
      take(now, dt, step);
      if (step.abandoned || limit.accepts(step, dt, true, longest)) return;
      ++redone;
    }
    begin(step, redone);
    const Instant* from = &now;
    const double shortest = dt / most;
    for (double left = dt; left > 1e-9 * dt && !step.diverged;) {
      const double h = left / std::ceil(left / std::max(longest, shortest) - 1e-6);
      take(*from, h, part_);
      if (part_.abandoned) {
        step.abandoned = true;
        step.error = part_.error * dt / h;
        return;
      }
      if (h > 1.001 * shortest && !limit.accepts(part_, h, false, longest)) {
        ++step.parts.redone;
        continue;
      }
      left -= h;
      keep();
      add(h, left, dt, step);
      from = &from_;
      longest = std::min(longest, limit.longest_from(from_));
    }
    std::swap(step.next, from_);
  }

 private:
  static void begin(Step& step, int redone);
  /// Adds the part just taken, of h, with so much of the step left after it.
  void add(double h, double left, double dt, Step& step);

  Instant from_;  // where the next part starts
  Step part_;
};

}  // namespace exposim
