#pragma once

#include <cstddef>
#include <vector>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// Everything below a curve in the plane of x and z, the same for all y: straight pieces, and arcs where they meet.
///
/// Level before the first corner and after the last. The closest point is found among the pieces near in x, however
/// many there are.
class Profile final : public Surface {
 public:
  using Corners = Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>;

  /// @param corners x, z [m], x never falling; @param rounding radius of all corners [m], for which there must be room.
  Profile(const Corners& corners, double rounding);

  double distance(const Eigen::Vector3d& p) const override { return closest({p.x(), p.z()}).phi; }
  Touch query(const Eigen::Vector3d& p) const override;

 private:
  /// A straight piece from `from` along `start`, or an arc around `from` between the directions `start` and `end`.
  struct Piece {
    double first, last;  ///< x where it begins and ends
    double bend;         ///< 1 around the ground, −1 around the air, 0 straight
    double size;         ///< length, or radius
    Eigen::Vector2d from, start, end;
  };
  struct Closest {
    double phi;
    Eigen::Vector2d n;
    double curvature;
  };

  static void offer(const Piece& piece, const Eigen::Vector2d& p, Closest& best);
  Closest closest(const Eigen::Vector2d& p) const;

  std::vector<Piece> pieces_;
  std::vector<std::ptrdiff_t> bins_;  ///< equal parts of x: a piece that begins before, and few before the next
  double left_, bins_per_metre_;
};

}  // namespace exposim
