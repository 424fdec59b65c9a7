#pragma once

#include <Eigen/Core>
#include <array>

#include "exposim/expo/law_tangent.hpp"
#include "exposim/expo/strand_tangent.hpp"

namespace exposim {

/// What a law does to a strand, or makes of it, by all that it depends on.
struct StrandChange {
  /// Where these begin: a column to each number that counts.
  enum Column : Eigen::Index {
    kDelta = 0,
    kDp = 3,
    kSlide = 6,
    kMu = 9,
    kCompliance = 10,
    kMaterial = 13,
    kColumns = 20
  };
  /// And rows: of the strand after it.
  enum Row : Eigen::Index { kNewDelta = 0, kNewSlide = 3, kNewLam = 6, kNewMu = 9, kNewTurning = 10, kRows = 11 };

  std::array<double, kRows * kColumns> by;

  double operator()(Eigen::Index row, Eigen::Index column) const {
    return by[static_cast<std::size_t>(row * kColumns + column)];
  }
};

/// The directions of a strand by itself: along each number that its law knows of it. What a law does is differentiated
/// along these alone.
class StrandBasis {
 public:
  StrandBasis();

  /// @param materials whether these change.
  /// @param mu_changes whether friction does so far.
  StrandTangent& start(bool materials, bool mu_changes);
  /// What the strand has become.
  StrandChange change() const;
  /// Rows of a stretch; `end` of a law fills them.
  Rows3 stretch() { return strand_.stretch; }

 private:
  static constexpr Eigen::Index kThrees = 6, kSingles = 4;

  std::array<double, (3 * kThrees + kSingles + 5) * StrandChange::kColumns> numbers_;
  StrandTangent strand_{};
  double* material_ = nullptr;
};

}  // namespace exposim
