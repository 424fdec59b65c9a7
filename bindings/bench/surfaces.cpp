#include "surfaces.hpp"

#include <nanobind/eigen/dense.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "exposim/geometry/surface.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Clock = std::chrono::steady_clock;

/// Seconds of a query, or of a distance alone, mean over the points: the least of several rounds.
double time_surface(const Surface& surface, const Points& points, bool whole, int rounds) {
  double least = std::numeric_limits<double>::infinity(), sum = 0.0;
  for (int k = 0; k < rounds; ++k) {
    const auto start = Clock::now();
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      const Eigen::Vector3d p = points.row(i);
      if (whole) {
        const Touch touch = surface.query(p);
        sum += touch.phi + touch.n.z() + touch.curvature(0, 0);
      } else {
        sum += surface.distance(p);
      }
    }
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  volatile double kept = sum;  // or nothing would have to be computed
  static_cast<void>(kept);
  return least / static_cast<double>(points.rows());
}

}  // namespace

void bind_surface_timing(nb::module_& m) {
  m.def("time_surface", &time_surface, nb::arg("surface"), nb::arg("points"), nb::arg("whole"), nb::arg("rounds"));
}

}  // namespace exposim
