#include "exposim/geometry/triangles.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "exposim/geometry/nearest.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

constexpr int kLeaf = 4;    // faces of a box that is not divided
constexpr int kDepth = 64;  // of boxes within boxes: halves of halves

double squared_distance(const Vector3d& p, const Vector3d& low, const Vector3d& high) {
  return (low - p).cwiseMax(p - high).cwiseMax(0.0).squaredNorm();
}

}  // namespace

Triangles::Triangles(const Vertices& vertices, const Faces& faces) {
  const auto count = static_cast<int>(faces.rows());
  Vertices at_corners = Vertices::Zero(vertices.rows(), 3), centres(count, 3);
  std::map<std::pair<int, int>, Vector3d> at_edges;
  const auto edge = [&](int f, int k) { return std::minmax({faces(f, k), faces(f, (k + 1) % 3)}); };
  std::vector<Face> given(static_cast<std::size_t>(count));
  for (int f = 0; f < count; ++f) {
    Face& face = given[static_cast<std::size_t>(f)];
    for (int k = 0; k < 3; ++k) face.corner[k] = vertices.row(faces(f, k));
    face.normal = (face.corner[1] - face.corner[0]).cross(face.corner[2] - face.corner[0]).normalized();
    face.centre = (face.corner[0] + face.corner[1] + face.corner[2]) / 3.0;
    face.radius = 0.0;
    for (const Vector3d& corner : face.corner) face.radius = std::max(face.radius, (corner - face.centre).norm());
    centres.row(f) = face.centre;
    for (int k = 0; k < 3; ++k) {
      const Vector3d one = face.corner[(k + 1) % 3] - face.corner[k], other = face.corner[(k + 2) % 3] - face.corner[k];
      at_corners.row(faces(f, k)) += std::atan2(one.cross(other).norm(), one.dot(other)) * face.normal;
      at_edges.try_emplace(edge(f, k), Vector3d::Zero()).first->second += face.normal;
    }
  }
  for (int f = 0; f < count; ++f) {
    Face& face = given[static_cast<std::size_t>(f)];
    for (int k = 0; k < 3; ++k) {
      face.edge_normal[k] = at_edges.at(edge(f, k)).normalized();
      face.corner_normal[k] = at_corners.row(faces(f, k)).normalized();
    }
  }
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  faces_ = std::move(given);
  nodes_.reserve(static_cast<std::size_t>(count));
  build(order, 0, count, centres);
  std::vector<Face> sorted;
  for (const int f : order) sorted.push_back(faces_[static_cast<std::size_t>(f)]);
  faces_ = std::move(sorted);

  ball_.centre = 0.5 * (nodes_.front().low + nodes_.front().high);
  ball_.radius = (vertices.rowwise() - ball_.centre.transpose()).rowwise().norm().maxCoeff();
}

/// Divides faces at the median along the longest side. @returns the number of the box.
int Triangles::build(std::vector<int>& order, int first, int last, const Vertices& centres) {
  const auto number = static_cast<int>(nodes_.size());
  Node node{Vector3d::Constant(INFINITY), Vector3d::Constant(-INFINITY), first, last - first};
  for (int i = first; i < last; ++i) {
    for (const Vector3d& corner : faces_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])].corner) {
      node.low = node.low.cwiseMin(corner);
      node.high = node.high.cwiseMax(corner);
    }
  }
  nodes_.push_back(node);
  if (last - first <= kLeaf) return number;
  Eigen::Index axis;
  (node.high - node.low).maxCoeff(&axis);
  const int middle = (first + last) / 2;
  const auto before = [&](int a, int b) { return std::pair(centres(a, axis), a) < std::pair(centres(b, axis), b); };
  std::nth_element(order.begin() + first, order.begin() + middle, order.begin() + last, before);
  build(order, first, middle, centres);
  const int second = build(order, middle, last, centres);
  nodes_[static_cast<std::size_t>(number)].first = second;
  nodes_[static_cast<std::size_t>(number)].count = 0;
  return number;
}

/// The foot on its plane if that is within; otherwise the best of the three edges.
Triangles::Closest Triangles::closest_of_face(const Face& face, const Vector3d& p) {
  bool inside = true;
  Closest best{INFINITY, face.corner[0], 0, Part::kCorner, 0};
  for (int k = 0; k < 3; ++k) {
    const Vector3d along = face.corner[(k + 1) % 3] - face.corner[k], to = p - face.corner[k];
    if (face.normal.cross(along).dot(to) > 0.0) continue;  // on the inner side of this edge
    inside = false;
    const double share = to.dot(along) / along.squaredNorm();
    Closest found{0.0, face.corner[k], 0, Part::kEdge, k};
    if (share <= 0.0) {
      found.part = Part::kCorner;
    } else if (share >= 1.0) {
      found.part = Part::kCorner;
      found.which = (k + 1) % 3;
      found.point = face.corner[found.which];
    } else {
      found.point += share * along;
    }
    found.squared = (p - found.point).squaredNorm();
    if (found.squared < best.squared) best = found;
  }
  if (!inside) return best;
  const double above = face.normal.dot(p - face.corner[0]);
  return {above * above, p - above * face.normal, 0, Part::kFace, 0};
}

/// Whether all of the circle around a face, in its plane, is farther than that.
bool Triangles::is_farther(const Face& face, const Vector3d& p, double squared) {
  const Vector3d to = p - face.centre;
  const double above = face.normal.dot(to);
  const double beside = std::sqrt(std::max(to.squaredNorm() - above * above, 0.0)) - face.radius;
  return above * above + (beside > 0.0 ? beside * beside : 0.0) >= squared;
}

Triangles::Closest Triangles::closest(const Vector3d& p) const {
  Closest best{INFINITY, p, 0, Part::kFace, 0};
  std::array<std::pair<double, int>, kDepth> waiting;
  std::size_t depth = 0;
  waiting[depth++] = {0.0, 0};
  while (depth > 0) {
    const auto [squared, number] = waiting[--depth];
    if (squared >= best.squared) continue;
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.count > 0) {
      for (int f = node.first; f < node.first + node.count; ++f) {
        const Face& face = faces_[static_cast<std::size_t>(f)];
        if (is_farther(face, p, best.squared)) continue;
        const Closest found = closest_of_face(face, p);
        if (found.squared >= best.squared) continue;
        best = found;
        best.face = f;
      }
      continue;
    }
    const auto box = [&](int i) {
      const Node& inner = nodes_[static_cast<std::size_t>(i)];
      return std::pair(squared_distance(p, inner.low, inner.high), i);
    };
    auto near = box(number + 1), far = box(node.first);
    if (far.first < near.first) std::swap(near, far);
    waiting[depth++] = far;  // the nearer one is looked at first
    waiting[depth++] = near;
  }
  return best;
}

Touch Triangles::query(const Vector3d& p) const {
  const Closest found = closest(p);
  const Face& face = faces_[static_cast<std::size_t>(found.face)];
  const Vector3d& out = found.part == Part::kFace   ? face.normal
                        : found.part == Part::kEdge ? face.edge_normal[found.which]
                                                    : face.corner_normal[found.which];
  const Vector3d d = p - found.point;
  const double away = std::sqrt(found.squared), side = d.dot(out) < 0.0 ? -1.0 : 1.0;
  if (found.part == Part::kFace) return {side * away, face.normal, Eigen::Matrix3d::Zero()};
  Touch touch = distance_from(d, Vector3d::Ones(), side * out);
  if (found.part == Part::kEdge && away >= kIndistinct) {
    const Vector3d along = (face.corner[(found.which + 1) % 3] - face.corner[found.which]).normalized();
    touch.curvature -= along * (along / away).transpose();
  }
  return {side * touch.phi, side * touch.n, side * touch.curvature};
}

}  // namespace exposim
