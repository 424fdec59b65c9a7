#pragma once

#include <Eigen/Core>
#include <memory>

#include "exposim/stiff/law.hpp"

namespace exposim {

/// Which rows a strand of an element acts on.
enum class Rows : unsigned char {
  kCoordinate,  ///< one: a joint coordinate, the first of its three numbers
  kLinear,      ///< three: a point
  kAngular,     ///< three: a rotation
};

/// An element that is always there: a joint coordinate held at a value (1 row), a point of a body held at a point of
/// another (3 rows), or a pose at a pose (6 rows: a linear and an angular strand). Body 0 is the world.
struct Bond {
  int rows = 3;              ///< 1, 3 or 6
  std::size_t a = 0, b = 0;  ///< joints of the two bodies; for 1 row, `a` is the joint itself
  Eigen::Vector3d position_a = Eigen::Vector3d::Zero();  ///< in the joints' frames [m]
  Eigen::Vector3d position_b = Eigen::Vector3d::Zero();
  Eigen::Matrix3d rotation_a = Eigen::Matrix3d::Identity();  ///< axes that agree at rest, in the joints' frames
  Eigen::Matrix3d rotation_b = Eigen::Matrix3d::Identity();
  Eigen::Index in_q = 0, in_v = 0;         ///< for 1 row, where the coordinate stands
  double rest = 0.0;                       ///< and its value at rest
  std::shared_ptr<const Law> law;          ///< of the linear rows [N/m], or of the coordinate
  std::shared_ptr<const Law> angular_law;  ///< of the angular rows [N·m/rad]; for 6 rows
};

}  // namespace exposim
