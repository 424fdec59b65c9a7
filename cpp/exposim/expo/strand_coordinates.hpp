#pragma once

#include <Eigen/Core>
#include <vector>

namespace exposim {

/// Which coordinates strands share, and how they move with these: x of a strand is G x of all.
struct StrandCoordinates {
  struct Place {
    Eigen::Index first, size;  ///< where its own begin; 3, 1: its first row alone, 6: linear and angular, or none
    bool angular;              ///< of six it feels the angular ones
    Eigen::Vector3d arm;       ///< of six, from where these are taken

    /// Calls f(coordinate, factor) with what row i of G has.
    template <typename Function>
    void for_each(Eigen::Index i, const Function& f) const {
      if (size <= 1) {
        if (i < size) f(first, 1.0);
      } else if (size == 3) {
        f(first + i, 1.0);
      } else if (angular) {
        f(first + 3 + i, 1.0);
      } else {
        const Eigen::Index j = (i + 1) % 3, l = (i + 2) % 3;
        f(first + i, 1.0);
        f(first + 3 + j, arm(l));
        f(first + 3 + l, -arm(j));
      }
    }
  };

  std::vector<Place> of;  ///< each strand
  Eigen::Index count = 0;

  void clear() {
    of.clear();
    count = 0;
  }
};

}  // namespace exposim
