#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/micro_step.hpp"
#include "exposim/stiff/law.hpp"

// When what a mode ends by passes zero within a micro-step of h.

namespace exposim {

/// Where a quantity that is linear in time falls from `from` to `to` within h, if it becomes negative; else h.
inline double crossing(double from, double to, double h) { return to < 0.0 && from > 0.0 ? h * from / (from - to) : h; }

/// A parabola from + b t + c t² that passes `between` at γ and ends at t = 1.
struct Parabola {
  Parabola(double start, double between, double to)
      : from(start),
        c(((to - from) - (between - from) / kGamma) / (1.0 - kGamma)),
        b(to - from - c),
        root(std::sqrt(std::max(0.0, b * b - 4.0 * c * from))),
        t(2.0 * from / (root - b)) {}

  double from, c, b;
  double root;  ///< its slope where it falls through zero is −root
  double t;     ///< when that is

  bool falls_within() const { return t > 0.0 && t < 1.0; }
};

/// The same as above for a parabola, which passes `between` at γh.
inline double crossing(double from, double between, double to, double h) {
  const double linear = crossing(from, to, h);
  if (linear == h) return h;
  const Parabola parabola(from, between, to);
  return parabola.falls_within() ? h * parabola.t : linear;
}

/// When an open contact closes within h, by a parabola; else h.
inline double closing(const Phase& phase, const Eigen::Vector3d& dp_end, double h) {
  const double phi = phase.gap(), dphi = phase.n.dot(phase.dp);
  const double a = (phase.n.dot(dp_end) - dphi) / h;
  if (phi <= 0.0) return 0.0;
  if (lowest_gap(phi, dphi, a, h) > 0.0) return h;
  return std::min(h, 2.0 * phi / (std::sqrt(std::max(0.0, dphi * dphi - 2.0 * a * phi)) - dphi));
}

}  // namespace exposim
