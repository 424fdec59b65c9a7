#include "exposim/geometry/ball_tree.hpp"

#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Vector3d;

BallTree::BallTree(std::vector<int> surfaces, const std::vector<Ball>& balls) {
  std::vector<Leaf> leaves;
  for (const int surface : surfaces) {
    const Ball& ball = balls[static_cast<std::size_t>(surface)];
    if (std::isfinite(ball.radius)) {
      leaves.push_back({ball, surface});
    } else {
      endless_.push_back(surface);
    }
  }
  if (!leaves.empty()) add(leaves.begin(), leaves.end());
}

void BallTree::add(std::vector<Leaf>::iterator begin, std::vector<Leaf>::iterator end) {
  Vector3d low = begin->ball.centre, high = low;
  for (auto leaf = begin; leaf != end; ++leaf) {
    low = low.cwiseMin((leaf->ball.centre.array() - leaf->ball.radius).matrix());
    high = high.cwiseMax((leaf->ball.centre.array() + leaf->ball.radius).matrix());
  }
  const std::size_t own = nodes_.size();
  const bool one = end - begin == 1;
  nodes_.push_back({0.5 * (low + high), 0.5 * (high - low), 0, one ? begin->surface : -1});
  if (!one) {
    Eigen::Index longest = 0;
    (high - low).maxCoeff(&longest);
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, [&](const Leaf& a, const Leaf& b) {
      const double difference = a.ball.centre(longest) - b.ball.centre(longest);
      return difference < 0.0 || (difference == 0.0 && a.surface < b.surface);
    });
    add(begin, middle);
    add(middle, end);
  }
  nodes_[own].behind = nodes_.size();
}

}  // namespace exposim
