#pragma once

#include <array>

namespace exposim {

/// A cubic between the middle two of four values, one apart: what each weighs in the result, in its slope and in its
/// second derivative, at t from 0 to 1.
struct Cubic {
  std::array<double, 4> value, slope, bend;
};

/// Through the two, with slopes by central differences: C¹.
inline Cubic hermite_cubic(double t) {
  const double u = 1.0 - t;
  return {{-0.5 * t * u * u, 1.0 - t * t * (2.5 - 1.5 * t), 1.0 - u * u * (2.5 - 1.5 * u), -0.5 * u * t * t},
          {-0.5 * u * (1.0 - 3.0 * t), -t * (5.0 - 4.5 * t), u * (5.0 - 4.5 * u), 0.5 * t * (1.0 - 3.0 * u)},
          {2.0 - 3.0 * t, 9.0 * t - 5.0, 9.0 * u - 5.0, 2.0 - 3.0 * u}};
}

/// Of a B-spline, close to the values: C².
inline Cubic spline_cubic(double t) {
  const double u = 1.0 - t;
  return {{u * u * u / 6.0, 2.0 / 3.0 - t * t * (1.0 - 0.5 * t), 2.0 / 3.0 - u * u * (1.0 - 0.5 * u), t * t * t / 6.0},
          {-0.5 * u * u, t * (1.5 * t - 2.0), u * (2.0 - 1.5 * u), 0.5 * t * t},
          {u, 3.0 * t - 2.0, 3.0 * u - 2.0, t}};
}

}  // namespace exposim
