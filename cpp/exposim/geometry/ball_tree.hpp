#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/geometry/surface.hpp"

namespace exposim {

/// Surfaces that stand still, sorted by where they are: asked for those near a point, it looks at few of the others.
class BallTree {
 public:
  BallTree() = default;
  /// @param balls around the surfaces with these numbers.
  BallTree(std::vector<int> surfaces, const std::vector<Ball>& balls);

  /// Calls visit(surface) for each whose ball comes closer to a point than `reach`; those without end first.
  template <typename Visit>
  void near(const Eigen::Vector3d& p, double reach, Visit&& visit) const {
    for (const int surface : endless_) visit(surface);
    std::size_t i = 0;
    while (i < nodes_.size()) {
      const Node& node = nodes_[i];
      const Eigen::Vector3d off = (p - node.middle).cwiseAbs() - node.half;
      if (off.maxCoeff() > reach) {
        i = node.behind;
        continue;
      }
      if (node.surface >= 0) visit(node.surface);
      ++i;
    }
  }

 private:
  /// A box around balls: of one surface, or of all nodes up to `behind`.
  struct Node {
    Eigen::Vector3d middle, half;
    std::size_t behind;
    int surface;  ///< −1: of several
  };

  struct Leaf {
    Ball ball;
    int surface;
  };
  void add(std::vector<Leaf>::iterator begin, std::vector<Leaf>::iterator end);

  std::vector<int> endless_;
  std::vector<Node> nodes_;  // each before those it holds
};

}  // namespace exposim
