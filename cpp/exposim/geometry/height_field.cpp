#include "exposim/geometry/height_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "exposim/geometry/cubic.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

namespace {

constexpr Index kPad = 3;           // nodes around the grid
constexpr Index kOuter = 2;         // cells around it
constexpr Index kBlock = 8;         // cells of a block, either way
constexpr double kPlane = 1e-10;    // of the largest height: closer to a plane than anybody means to be
constexpr double kFound = 1e-8;     // cells: a step of Newton's method after which no other is needed
constexpr double kRounded = 1e-14;  // of a squared distance: less is not to be seen
constexpr double kFocus = 1e-6;     // the least that a curvature is divided by, where it has no bound
constexpr double kFar = 20.0;       // cells above everything: so far away is what is only asked for its bound
constexpr int kMostSteps = 30;      // far more than it ever takes
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// From a coordinate to the nearest of an interval's.
double beyond(double x, double low, double high) { return std::max({low - x, x - high, 0.0}); }

}  // namespace

HeightField::HeightField(const Heights& heights, double spacing, const Eigen::Vector2d& origin)
    : h_(spacing), origin_(origin), nodes_(heights.rows() + 2 * kPad, heights.cols() + 2 * kPad) {
  const Index rows = heights.rows(), columns = heights.cols();
  const Heights f = heights / h_;
  level_ = f(0, 0);
  slope_x_ = (f(rows - 1, 0) - f(0, 0)) / static_cast<double>(rows - 1);
  slope_y_ = (f(0, columns - 1) - f(0, 0)) / static_cast<double>(columns - 1);
  const auto above_plane = [&](Index i, Index j) {
    return f(i, j) - (level_ + slope_x_ * static_cast<double>(i) + slope_y_ * static_cast<double>(j));
  };
  double off = 0.0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) off = std::max(off, std::abs(above_plane(i, j)));
  }
  plane_ = off <= kPlane * f.cwiseAbs().maxCoeff();
  if (!plane_) level_ = slope_x_ = slope_y_ = 0.0;
  for (Index i = 0; i < nodes_.rows(); ++i) {
    for (Index j = 0; j < nodes_.cols(); ++j) {
      nodes_(i, j) = above_plane(std::clamp<Index>(i - kPad, 0, rows - 1), std::clamp<Index>(j - kPad, 0, columns - 1));
    }
  }

  cells_x_ = rows - 1 + 2 * kOuter;
  cells_y_ = columns - 1 + 2 * kOuter;
  blocks_x_ = (cells_x_ + kBlock - 1) / kBlock;
  blocks_y_ = (cells_y_ + kBlock - 1) / kBlock;
  const Limits none{kInfinite, -kInfinite, 0.0, 0.0};
  all_ = none;
  blocks_.assign(static_cast<std::size_t>(blocks_x_ * blocks_y_), none);
  for (Index i = 0; i < cells_x_; ++i) {
    for (Index j = 0; j < cells_y_; ++j) {
      cells_.push_back(limits_of_cell(i, j));
      blocks_[static_cast<std::size_t>(i / kBlock * blocks_y_ + j / kBlock)].add(cells_.back());
      all_.add(cells_.back());
    }
  }
}

void HeightField::Limits::add(const Limits& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  slope = std::max(slope, other.slope);
  bend = std::max(bend, other.bend);
}

/// From the control points of the cell in Bernstein's form, within whose hull f and its derivatives stay.
HeightField::Limits HeightField::limits_of_cell(Index i, Index j) const {
  Eigen::Matrix4d to_control;
  to_control << 0, 1, 0, 0, -1.0 / 6, 1, 1.0 / 6, 0, 0, 1.0 / 6, 1, -1.0 / 6, 0, 0, 1, 0;
  const Eigen::Matrix4d P = to_control * nodes_.block<4, 4>(i, j) * to_control.transpose();
  const Eigen::Matrix<double, 3, 4> along_x = P.bottomRows<3>() - P.topRows<3>();
  const Eigen::Matrix<double, 4, 3> along_y = P.rightCols<3>() - P.leftCols<3>();
  const double fx = 3.0 * along_x.cwiseAbs().maxCoeff(), fy = 3.0 * along_y.cwiseAbs().maxCoeff();
  const double fxx = 6.0 * (along_x.bottomRows<2>() - along_x.topRows<2>()).cwiseAbs().maxCoeff();
  const double fyy = 6.0 * (along_y.rightCols<2>() - along_y.leftCols<2>()).cwiseAbs().maxCoeff();
  const double fxy = 9.0 * (along_x.rightCols<3>() - along_x.leftCols<3>()).cwiseAbs().maxCoeff();
  const double slope = std::hypot(fx + std::abs(slope_x_), fy + std::abs(slope_y_));
  return {P.minCoeff(), P.maxCoeff(), slope, std::max(fxx, fyy) + fxy};
}

HeightField::Shape HeightField::local_shape(double x, double y) const {
  // Half a cell beyond those that are level, in the middle of what goes on for ever.
  const double u = std::clamp(x, -1.5, static_cast<double>(nodes_.rows() - 2 * kPad) + 0.5);
  const double v = std::clamp(y, -1.5, static_cast<double>(nodes_.cols() - 2 * kPad) + 0.5);
  const auto i = static_cast<Index>(u + kPad) - 1, j = static_cast<Index>(v + kPad) - 1;
  const Cubic along = hermite_cubic(u + (kPad - 1) - static_cast<double>(i));
  const Cubic across = hermite_cubic(v + (kPad - 1) - static_cast<double>(j));
  const double* row = nodes_.data() + i * nodes_.cols() + j;
  Eigen::Array4d f = Eigen::Array4d::Zero(), fx = f, fxx = f;
  for (std::size_t k = 0; k < 4; ++k, row += nodes_.cols()) {
    const Eigen::Map<const Eigen::Array4d> heights(row);
    f += along.value[k] * heights;
    fx += along.slope[k] * heights;
    fxx += along.bend[k] * heights;
  }
  const auto sum = [](const std::array<double, 4>& weights, const Eigen::Array4d& values) {
    return weights[0] * values[0] + weights[1] * values[1] + (weights[2] * values[2] + weights[3] * values[3]);
  };
  return {level_ + slope_x_ * x + slope_y_ * y + sum(across.value, f),
          slope_x_ + sum(across.value, fx),
          slope_y_ + sum(across.slope, f),
          sum(across.value, fxx),
          sum(across.slope, fx),
          sum(across.bend, f)};
}

HeightField::Foot HeightField::foot_at(const Vector3d& p, double x, double y) const {
  const Shape shape = local_shape(x, y);
  const double dx = x - p.x(), dy = y - p.y(), dz = shape.f - p.z();
  return {x, y, dx * dx + dy * dy + dz * dz, shape};
}

/// The closest point near one where the search begins, by Newton's method on half the squared distance.
HeightField::Foot HeightField::descend(const Vector3d& p, Foot foot) const {
  for (int k = 0; k < kMostSteps; ++k) {
    Shape& s = foot.shape;
    const double up = s.f - p.z();
    const double gx = foot.x - p.x() + up * s.fx, gy = foot.y - p.y() + up * s.fy;
    double xx = 1.0 + s.fx * s.fx, xy = s.fx * s.fy, yy = 1.0 + s.fy * s.fy;
    const double xx_all = xx + up * s.fxx, xy_all = xy + up * s.fxy, yy_all = yy + up * s.fyy;
    if (xx_all + yy_all > 0.0 && xx_all * yy_all - xy_all * xy_all > 1e-3 * (xx * yy - xy * xy)) {
      xx = xx_all;  // otherwise it is no valley: Gauss-Newton leads down all the same
      xy = xy_all;
      yy = yy_all;
    }
    const double det = xx * yy - xy * xy;
    double dx = (xy * gy - yy * gx) / det, dy = (xy * gx - xx * gy) / det;
    const double size = dx * dx + dy * dy;
    if (size < kFound * kFound) {
      foot.x += dx;
      foot.y += dy;
      s.f += s.fx * dx + s.fy * dy;
      s.fx += s.fxx * dx + s.fxy * dy;
      s.fy += s.fxy * dx + s.fyy * dy;
      return foot;
    }
    Foot next = foot_at(p, foot.x + dx, foot.y + dy);
    const double enough = foot.squared * (1.0 + kRounded);
    for (int halved = 0; next.squared > enough && halved < kMostSteps; ++halved) {
      dx *= 0.5;
      dy *= 0.5;
      next = foot_at(p, foot.x + dx, foot.y + dy);
    }
    if (next.squared > enough) return foot;
    foot = next;
  }
  return foot;
}

/// Number of the cell at a coordinate.
Index HeightField::numbered(double at, Index count) {
  return static_cast<Index>(
      std::clamp(std::floor(at) + static_cast<double>(kOuter), 0.0, static_cast<double>(count - 1)));
}

/// Whether no other point can be closest: all around, within `away`, the squared distance is convex.
bool HeightField::is_only(const Vector3d& p, double away) const {
  const auto convex = [away](const Limits& part) { return part.bend * away * (1.0 + part.slope) < 1.0; };
  if (convex(all_)) return true;
  if (away > 4.0 * kBlock) return false;
  Limits around = {kInfinite, -kInfinite, 0.0, 0.0};
  Index first_x = numbered(p.x() - away, cells_x_), last_x = numbered(p.x() + away, cells_x_);
  Index first_y = numbered(p.y() - away, cells_y_), last_y = numbered(p.y() + away, cells_y_);
  if (away <= 2.0) {
    for (Index i = first_x; i <= last_x; ++i) {
      for (Index j = first_y; j <= last_y; ++j) around.add(cell(i, j));
    }
  } else {
    for (Index i = first_x / kBlock; i <= last_x / kBlock; ++i) {
      for (Index j = first_y / kBlock; j <= last_y / kBlock; ++j) around.add(block(i, j));
    }
  }
  return convex(around);
}

/// Whether all of a cell is farther than that, by a parabola below the squared distance, from what it is in the middle.
bool HeightField::is_farther(const Vector3d& p, const Limits& part, double x, double y, double squared) const {
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  const Foot middle = foot_at(p, x, y);
  const double up = middle.shape.f - p.z();
  const double steep = std::hypot(x - p.x() + up * middle.shape.fx, y - p.y() + up * middle.shape.fy);
  const double most = std::max(std::abs(part.low - p.z()), std::abs(part.high - p.z()));
  return middle.squared - std::sqrt(2.0) * steep + 0.5 * std::min(0.0, 1.0 - part.bend * most) > squared;
}

/// Looks for a closer point in all cells that could have one.
void HeightField::search(const Vector3d& p, Foot& best) const {
  const auto gap = [&](const Limits& part, double x0, double x1, double y0, double y1) {
    const double dx = beyond(p.x(), x0, x1), dy = beyond(p.y(), y0, y1), dz = beyond(p.z(), part.low, part.high);
    return dx * dx + dy * dy + dz * dz;
  };
  const auto from = [](Index i) { return i == 0 ? -kInfinite : static_cast<double>(i - kOuter); };
  const auto to = [](Index i, Index count) { return i == count ? kInfinite : static_cast<double>(i - kOuter); };
  const double away = std::sqrt(best.squared);
  const Index first_x = numbered(p.x() - away, cells_x_), last_x = numbered(p.x() + away, cells_x_);
  const Index first_y = numbered(p.y() - away, cells_y_), last_y = numbered(p.y() + away, cells_y_);
  for (Index I = first_x / kBlock; I <= last_x / kBlock; ++I) {
    const Index end_x = std::min((I + 1) * kBlock, cells_x_);
    for (Index J = first_y / kBlock; J <= last_y / kBlock; ++J) {
      const Index end_y = std::min((J + 1) * kBlock, cells_y_);
      const Limits& part = block(I, J);
      if (gap(part, from(I * kBlock), to(end_x, cells_x_), from(J * kBlock), to(end_y, cells_y_)) >= best.squared)
        continue;
      for (Index i = std::max(I * kBlock, first_x); i < std::min(end_x, last_x + 1); ++i) {
        for (Index j = std::max(J * kBlock, first_y); j < std::min(end_y, last_y + 1); ++j) {
          const double x0 = from(i), x1 = to(i + 1, cells_x_), y0 = from(j), y1 = to(j + 1, cells_y_);
          if (gap(cell(i, j), x0, x1, y0, y1) >= best.squared) continue;
          if (is_farther(p, cell(i, j), 0.5 * (x0 + x1), 0.5 * (y0 + y1), best.squared)) continue;
          const double x = std::clamp(p.x(), x0, x1), y = std::clamp(p.y(), y0, y1);
          for (const double inwards : {0.25, 0.75}) {  // of what is farther from p, where a cell has an end
            const double at_x = x == x0 ? x + inwards : x == x1 ? x - inwards : x;
            const double at_y = y == y0 ? y + inwards : y == y1 ? y - inwards : y;
            const Foot other = descend(p, foot_at(p, at_x, at_y));
            if (other.squared < best.squared) best = other;
          }
        }
      }
    }
  }
}

/// In units of the grid, as p is.
HeightField::Foot HeightField::closest(const Vector3d& p) const {
  const Foot below = foot_at(p, p.x(), p.y());
  Foot foot = descend(p, below);
  if (!plane_ && !is_only(p, std::abs(p.z() - below.shape.f))) search(p, foot);
  return foot;
}

double HeightField::distance(const Vector3d& p) const {
  const Vector3d at = in_cells(p);
  if (!plane_ && at.z() - all_.high > kFar) return h_ * (at.z() - all_.high);
  const Foot foot = closest(at);
  const Shape& s = foot.shape;
  const Vector3d up(-s.fx, -s.fy, 1.0);
  return h_ * up.dot(at - Vector3d(foot.x, foot.y, s.f)) / up.norm();
}

/// With n = (−∇f, 1)/w, S = −P ∇²f P/w the curvature of the ground (P takes away what is along n), that at a distance φ
/// is
///   S (I + φ S)⁻¹ = (S + φ det(S) P)/(1 + φ tr(S) + φ² det(S))
Touch HeightField::query(const Vector3d& p) const {
  const Vector3d at = in_cells(p);
  const Foot foot = closest(at);
  const Shape& s = foot.shape;
  const double w = std::sqrt(1.0 + s.fx * s.fx + s.fy * s.fy), per_w = 1.0 / w;
  const Vector3d n(-s.fx * per_w, -s.fy * per_w, per_w);
  const double phi = n.dot(at - Vector3d(foot.x, foot.y, s.f));
  const Vector3d bent(s.fxx * n.x() + s.fxy * n.y(), s.fxy * n.x() + s.fyy * n.y(), 0.0);  // ∇²f n
  const double along = n.dot(bent);
  const double trace = -(s.fxx + s.fyy - along) * per_w;
  const double det = (s.fxx * s.fyy - s.fxy * s.fxy) * per_w * per_w * per_w * per_w;
  // Not below zero at the closest point, and zero where it stops being the closest.
  const double scale = 1.0 / (h_ * std::max(1.0 + phi * (trace + phi * det), kFocus));
  const double a = scale * phi * det, b = -scale * per_w;
  Touch touch{h_ * phi, n, (b * along - a) * n * n.transpose()};
  touch.curvature -= b * (n * bent.transpose() + bent * n.transpose());
  touch.curvature(0, 0) += b * s.fxx + a;
  touch.curvature(0, 1) += b * s.fxy;
  touch.curvature(1, 0) += b * s.fxy;
  touch.curvature(1, 1) += b * s.fyy + a;
  touch.curvature(2, 2) += a;
  return touch;
}

}  // namespace exposim
