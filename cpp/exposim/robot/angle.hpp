#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace exposim {

struct Angle {
  double cosine, sine;
};

inline std::uint64_t bits(double x) {
  std::uint64_t all;
  std::memcpy(&all, &x, sizeof all);
  return all;
}
inline double number(std::uint64_t all) {
  double x;
  std::memcpy(&x, &all, sizeof x);
  return x;
}

/// Cosine and sine to the last digit but one, for many angles in a row: several times as fast as the library's.
inline Angle angle(double x) {
  if (!(std::abs(x) < 1e5)) return {std::cos(x), std::sin(x)};
  // x = k π/2 + r, |r| ≤ π/4. Adding kRound rounds to an integer, which the last bits of the sum are then.
  constexpr double kRound = 0x1.8p52;
  constexpr double kPart1 = 0x1.921fb54400000p+0, kPart2 = 0x1.0b4611a600000p-34,
                   kPart3 = 0x1.3198a2e037073p-69;  // k times two is exact
  const double rounded = x * 0x1.45f306dc9c883p-1 + kRound;
  const double k = rounded - kRound;
  const double r = ((x - k * kPart1) - k * kPart2) - k * kPart3;
  // Taylor's series, as far as a last digit needs it.
  const double s = r * r;
  double sine = 1.0, cosine = 1.0;
  for (int n = 7; n > 0; --n) sine = 1.0 - sine * (s * (1.0 / (2 * n * (2 * n + 1))));
  for (int n = 8; n > 0; --n) cosine = 1.0 - cosine * (s * (1.0 / (2 * n * (2 * n - 1))));
  sine *= r;
  // By quarter turns, without branches.
  const std::uint64_t quarter = bits(rounded), swap = -(quarter & 1) & (bits(sine) ^ bits(cosine));
  return {number(bits(cosine) ^ swap ^ (((quarter + 1) & 2) << 62)), number(bits(sine) ^ swap ^ ((quarter & 2) << 62))};
}

}  // namespace exposim
