#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/angle.hpp"
#include "exposim/robot/pinocchio_joints.hpp"
#include "exposim/robot/tree.hpp"
#include "exposim/robot/vector3.hpp"

namespace exposim {

/// Where a body is and how it moves: its joint's frame, in world axes.
struct BodyMotion {
  Mat3 R = Mat3::identity();
  Vec3 p, omega;
  Vec3 v;  ///< of its origin
};

/// What M and h are made of, in world axes and about the origin of the body's frame: wherever the robot is, nothing is
/// as large as its distance from the world's origin.
struct BodyTerms {
  Vec3 d;         ///< from the parent's origin
  Vec3 alpha, a;  ///< rates of omega and v at v̇ = 0
  Vec3 mc;        ///< of the body alone, as in TreeJoint
  Symmetric3 I;
  // Of the body and all that it carries:
  Vec3 f, n;  ///< force and moment that it takes to move so and to bear gravity
  double mass;
  Vec3 all_mc;
  Symmetric3 all_I;
};

/// How the body of a degree of freedom moves at unit rate, where the origin of its frame is o.
struct Column {
  Vec3 linear, angular, o;
};

/// One thread's memory for the sweeps over a tree (sweeps.hpp).
struct TreeData {
  TreeData(const PinocchioModel& model, const Tree& tree);

  std::vector<BodyMotion> bodies;
  std::vector<BodyTerms> terms;
  std::vector<Column> columns;
  std::vector<Angle> angles;  ///< of joints; where they are no hinges, of no meaning
  Eigen::VectorXd h;
  std::vector<double> M;  ///< packed as TreeFactor has it
  PinocchioJoints others;

  // Where the placements and velocities of the bodies were computed, if they still are those.
  Eigen::VectorXd q, v;
  bool placed = false;
};

}  // namespace exposim
