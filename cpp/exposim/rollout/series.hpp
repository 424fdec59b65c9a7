#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace exposim {

/// Numbers by row, step and entry, in the memory of whoever gave them. A stride of zero: the same for all.
struct Series {
  const double* data = nullptr;                          ///< null: not given
  std::ptrdiff_t by_row = 0, by_step = 0, by_entry = 0;  ///< in numbers

  double at(Eigen::Index row, Eigen::Index step, Eigen::Index entry) const {
    return data[row * by_row + step * by_step + entry * by_entry];
  }
};

/// A series, and which of its entries belongs where in a vector.
struct Channel {
  Series series;
  std::vector<std::pair<Eigen::Index, Eigen::Index>> entries;  ///< from, to

  /// @return false, with the vector half written, if one of the numbers is not finite.
  bool read(Eigen::Index row, Eigen::Index step, Eigen::VectorXd& values) const {
    if (!series.data) return true;
    bool finite = true;
    for (const auto& [from, to] : entries) {
      const double value = series.at(row, step, from);
      finite &= std::isfinite(value);
      values(to) = value;
    }
    return finite;
  }
};

/// Wrenches on a body: force, then torque, six entries.
struct WrenchChannel {
  std::size_t joint;
  Eigen::Vector3d position;  ///< in the joint's frame [m]
  Series series;
};

}  // namespace exposim
