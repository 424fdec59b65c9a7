#pragma once

#include <cmath>

namespace exposim {

/// Alexander's L-stable method (1977), of second order: stages at γ and 1, the second one is the result.
const double kGamma = 1.0 - std::sqrt(0.5);

/// The force of a drive in the second stage lies on the straight line through those of the start and the first stage,
/// so far behind the latter that the two weights of the implicit stages make of them what the explicit half wants.
const double kBehind = 1.0 / (2.0 * kGamma * kGamma);

/// Adds a micro-step of h with the forces of its stages to the single and double integral of a force.
template <typename Force>
void add_to_integrals(double h, const Force& lam1, const Force& lam2, Force& once, Force& twice) {
  const double g = kGamma;
  twice += h * (once + h * (2.0 * g * (1.0 - g) * lam1 + g * g * lam2));
  once += h * ((1.0 - g) * lam1 + g * lam2);
}

}  // namespace exposim
