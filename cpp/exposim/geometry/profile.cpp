#include "exposim/geometry/profile.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "exposim/geometry/nearest.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector2d;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSeam = 1e-11;  // [m] by which pieces overlap, so that no point falls between two

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

}  // namespace

Profile::Profile(const Corners& corners, double rounding) {
  const Index count = corners.rows();
  Vector2d at = corners.row(0), before = Vector2d::UnitX();
  double begun = -kInfinite;  // x where the straight piece begins
  for (Index i = 0; i < count; ++i) {
    const Vector2d corner = corners.row(i);
    const Vector2d after =
        i + 1 < count ? Vector2d((corners.row(i + 1) - corners.row(i)).normalized()) : Vector2d::UnitX();
    const double turn = cross(before, after);
    const double cut = rounding * std::abs(turn) / (1.0 + before.dot(after));  // r tan(θ/2)
    const Vector2d enters = corner - cut * before, leaves = corner + cut * after;
    const double length = begun == -kInfinite ? kInfinite : (enters - at).norm();
    pieces_.push_back({begun, enters.x(), 0.0, length, begun == -kInfinite ? enters : at, before, before});
    if (turn != 0.0) {
      const double bend = turn < 0.0 ? 1.0 : -1.0;
      const Vector2d centre = enters - bend * rounding * Vector2d(-before.y(), before.x());
      pieces_.push_back({enters.x(), leaves.x(), bend, rounding, centre, before, after});
    }
    at = leaves;
    before = after;
    begun = leaves.x();
  }
  pieces_.push_back({begun, kInfinite, 0.0, kInfinite, at, before, before});

  left_ = pieces_.front().last;
  const double width = pieces_.back().first - left_;
  bins_per_metre_ = width > 0.0 ? static_cast<double>(pieces_.size()) / width : 0.0;
  std::ptrdiff_t first = 0;
  for (std::size_t bin = 0; bin < pieces_.size(); ++bin) {
    const double x = width > 0.0 ? left_ + static_cast<double>(bin) / bins_per_metre_ : left_;
    while (first + 1 < static_cast<std::ptrdiff_t>(pieces_.size()) &&
           pieces_[static_cast<std::size_t>(first + 1)].first < x)
      ++first;
    bins_.push_back(first);
  }
}

/// Takes a piece for the closest, if it is.
void Profile::offer(const Piece& piece, const Vector2d& p, Closest& best) {
  const Vector2d d = p - piece.from;
  if (piece.bend == 0.0) {
    const double along = d.dot(piece.start);
    const bool first = piece.first == -kInfinite;  // which ends where it is said to begin
    if (first ? along > kSeam : along < -kSeam || along > piece.size + kSeam) return;
    const Vector2d n(-piece.start.y(), piece.start.x());
    const double phi = d.dot(n);
    if (std::abs(phi) >= std::abs(best.phi)) return;
    best = {phi, n, 0.0};
    return;
  }
  if (d.dot(piece.start) < -kSeam || d.dot(piece.end) > kSeam) return;
  const double away = d.norm(), phi = piece.bend * (away - piece.size);
  if (std::abs(phi) >= std::abs(best.phi)) return;
  if (away < kIndistinct) {
    const Vector2d out = piece.start - piece.end;  // half-way between the two normals
    best = {phi, piece.bend * out.normalized(), 0.0};
  } else {
    best = {phi, piece.bend / away * d, piece.bend / away};
  }
}

Profile::Closest Profile::closest(const Vector2d& p) const {
  const double bin = std::clamp((p.x() - left_) * bins_per_metre_, 0.0, static_cast<double>(bins_.size() - 1));
  auto right = pieces_.begin() + bins_[static_cast<std::size_t>(bin)];
  while (right != pieces_.end() && right->first <= p.x()) ++right;
  auto left = right;
  Closest best{kInfinite, Vector2d::UnitY(), 0.0};
  while (true) {  // outwards in x, until all that is left is farther away
    const double to_left = left == pieces_.begin() ? kInfinite : p.x() - std::prev(left)->last;
    const double to_right = right == pieces_.end() ? kInfinite : right->first - p.x();
    if (std::min(to_left, to_right) >= std::abs(best.phi)) return best;
    offer(to_left <= to_right ? *--left : *right++, p, best);
  }
}

Touch Profile::query(const Eigen::Vector3d& p) const {
  const Closest found = closest({p.x(), p.z()});
  const Vector2d& n = found.n;
  Touch touch{found.phi, {n.x(), 0.0, n.y()}, Eigen::Matrix3d::Zero()};
  if (found.curvature != 0.0) {
    const Eigen::Vector3d t(-n.y(), 0.0, n.x());
    touch.curvature = t * (found.curvature * t).transpose();
  }
  return touch;
}

}  // namespace exposim
