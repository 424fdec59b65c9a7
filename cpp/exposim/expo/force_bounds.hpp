#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/expo/block_fit.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/kernels/series.hpp"

namespace exposim {

/// A part of a step, in which the force of the k-th active strand is never further than `deviation[k]` from the
/// straight line between two forces.
struct ForcePiece {
  double length;  ///< [s]
  std::vector<Eigen::Vector3d> from, to;
  std::vector<double> deviation;
  std::vector<Eigen::Vector3d> reached;  ///< at its end, or on average: if that is none of its mode, the mode ends
};

/// One after the other, from the start of the step to its end; none if nothing is known.
class ForcePieces {
 public:
  ForcePieces(const ForcePiece* first, std::size_t count) : first_(first), count_(count) {}
  const ForcePiece* begin() const { return first_; }
  const ForcePiece* end() const { return first_ + count_; }
  bool empty() const { return count_ == 0; }

 private:
  const ForcePiece* first_;
  std::size_t count_;
};

/// How far stiff forces go within a step, whatever couples them, from the motion at a few instants.
///
/// With ‖x‖² = xᵀKx over all strands, N² = ‖û‖² + x̂ᵀKΥKx̂ does not grow by itself for any x̂'' = −Υ(K x̂ + B x̂'), û = x̂',
/// if B = cK: the damper takes 2c ûᵀKΥKû from it. So from an instant on, for s up to h,
///
///   ‖u‖ ≤ U + sR                  U = ‖u‖, R = ‖p̈̄ − ΥKx‖ at the instant
///   ‖u'‖ ≤ √(‖a‖² + uᵀKΥKu),   ‖u''‖ ≤ √(‖j‖² + aᵀKΥKa)      (acceleration and jerk there)
///
/// and a force, −K x − B u, stays near where it was, or near the line to where it will be: the nearer counts. Where c
/// differs between strands, from c₁ to c₂, the damper may give: N grows by e^{εs} at most,
/// ε = ‖ΥK‖ (c₂ − c₁)² / 8(c₁ + c₂).
class ForceBounds {
 public:
  /// Damping relative to stiffness: least and largest.
  struct Damping {
    double least, most;
  };
  static Damping damping_of(const StiffSystem& system);

  /// A step from its series, as one piece or in as many as it tells of.
  /// @param unexplained one for every active strand, or none at all.
  ForcePieces by_series(const StiffSystem& system, SeriesKernel& series, const std::vector<Unexplained>& unexplained,
                        bool closely);
  /// A step in which forces keep to a distance from their averages: √K · radius, and what is not explained.
  ForcePieces by_modes(const StiffSystem& system, double radius, const std::vector<Unexplained>& unexplained,
                       const std::vector<Eigen::Vector3d>& lam_bar, double dt);

 private:
  std::vector<ForcePiece> pieces_;
};

}  // namespace exposim
