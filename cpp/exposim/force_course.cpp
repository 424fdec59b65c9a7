#include "exposim/force_course.hpp"

#include <algorithm>

namespace exposim {

using Eigen::Vector3d;

void ForceCourse::begin(const Vector3d& start) {
  t.assign(1, 0.0);
  lam.assign(1, start);
}

void ForceCourse::add(double time, const Vector3d& force) {
  t.push_back(time);
  lam.push_back(force);
}

Vector3d ForceCourse::at(double time) const {
  const auto after = std::upper_bound(t.begin(), t.end(), time);
  if (after == t.begin()) return lam.front();
  if (after == t.end()) return lam.back();
  const auto i = static_cast<std::size_t>(after - t.begin());
  return lam[i - 1] + (time - t[i - 1]) / (t[i] - t[i - 1]) * (lam[i] - lam[i - 1]);
}

void ForceCourse::integrate(double time, Vector3d& once, Vector3d& twice) const {
  once.setZero();
  twice.setZero();
  for (std::size_t i = 1; i < t.size() && t[i - 1] < time; ++i) {
    const double h = std::min(time, t[i]) - t[i - 1];
    if (h <= 0.0) continue;
    const Vector3d slope = (lam[i] - lam[i - 1]) / (t[i] - t[i - 1]);
    twice += h * (once + h * (0.5 * lam[i - 1] + h / 6.0 * slope));
    once += h * (lam[i - 1] + 0.5 * h * slope);
  }
}

void ForceCourse::bend(const Vector3d& start, const Vector3d& end) {
  const auto jumps_at = [&](std::size_t i) { return i + 1 < t.size() && t[i + 1] == t[i]; };
  std::size_t first = 0, last = t.size() - 1;
  while (first < t.size() - 1 && !jumps_at(first)) ++first;
  while (last > 0 && !jumps_at(last - 1)) --last;
  const Vector3d at_start = start - lam.front(), at_end = end - lam.back();
  for (std::size_t i = 0; i <= first && t[first] > 0.0; ++i) lam[i] += (1.0 - t[i] / t[first]) * at_start;
  const double left = t.back() - t[last];
  for (std::size_t i = last; i < t.size() && left > 0.0; ++i) lam[i] += (t[i] - t[last]) / left * at_end;
  if (lam.back() != end) add(t.back(), end);
}

}  // namespace exposim
