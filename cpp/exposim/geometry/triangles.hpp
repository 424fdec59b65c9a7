#pragma once

#include <vector>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// A closed surface of triangles, with its exact signed distance. Boxes within boxes lead to the closest one.
class Triangles final : public Surface {
 public:
  using Vertices = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  using Faces = Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>;

  /// @param vertices [m]. @param faces three vertices each, counterclockwise seen from outside; every edge has two.
  Triangles(const Vertices& vertices, const Faces& faces);

  double distance(const Eigen::Vector3d& p) const override { return query(p).phi; }
  /// Curved around edges and corners, flat elsewhere.
  Touch query(const Eigen::Vector3d& p) const override;
  Ball bounds() const override { return ball_; }

 private:
  struct Face {
    Eigen::Vector3d centre, normal, corner[3];
    double radius;  ///< from the centre to the farthest corner
    /// Which side a point is on that is closest to an edge (from corner k on) or a corner: means of the normals of the
    /// faces there, for corners weighed by the angles between their edges.
    Eigen::Vector3d edge_normal[3], corner_normal[3];
  };
  /// A box around some faces: those of a leaf, or of two more boxes.
  struct Node {
    Eigen::Vector3d low, high;
    int first, count;  ///< faces of a leaf; count 0: the two boxes are the next one and `first`
  };
  enum class Part { kFace, kEdge, kCorner };
  struct Closest {
    double squared;
    Eigen::Vector3d point;
    int face;
    Part part;
    int which;  ///< edge or corner
  };

  int build(std::vector<int>& order, int first, int last, const Vertices& centres);
  static bool is_farther(const Face& face, const Eigen::Vector3d& p, double squared);
  static Closest closest_of_face(const Face& face, const Eigen::Vector3d& p);
  Closest closest(const Eigen::Vector3d& p) const;

  std::vector<Face> faces_;
  std::vector<Node> nodes_;
  Ball ball_;
};

}  // namespace exposim
