#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/robot/pinocchio_joints.hpp"
#include "exposim/robot/symmetric3.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

/// Where a body is and how it moves: its joint's frame, in world axes.
struct BodyMotion {
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  Eigen::Vector3d p = Eigen::Vector3d::Zero();
  Eigen::Vector3d omega = Eigen::Vector3d::Zero();
  Eigen::Vector3d v = Eigen::Vector3d::Zero();  ///< of its origin
};

/// What M and h are made of, in world axes and about the origin of the body's frame: wherever the robot is, nothing is
/// as large as its distance from the world's origin.
struct BodyTerms {
  Eigen::Vector3d d;  ///< from the parent's origin
  Eigen::Vector3d mc;
  Symmetric3 I;
  Eigen::Vector3d alpha = Eigen::Vector3d::Zero();  ///< rate of omega at v̇ = 0
  Eigen::Vector3d a = Eigen::Vector3d::Zero();      ///< rate of v at v̇ = 0
  // With all that the body carries:
  Eigen::Vector3d f, n;  ///< force and moment that this motion takes, gravity withstood
  double mass;
  Eigen::Vector3d all_mc;
  Symmetric3 all_I;
};

/// Velocity of the body of a degree of freedom at unit rate, where the origin of its frame is o.
struct Column {
  Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = Eigen::Vector3d::Zero(), o = Eigen::Vector3d::Zero();
};

/// One thread's memory for the sweeps over a tree (sweeps.hpp).
struct TreeData {
  TreeData(const PinocchioModel& model, const Tree& tree);

  std::vector<BodyMotion> bodies;
  std::vector<BodyTerms> terms;
  std::vector<Column> columns;
  Eigen::VectorXd h;
  std::vector<double> M;  ///< packed as TreeFactor has it
  PinocchioJoints others;

  // Where the placements and velocities of the bodies were computed, if they still are those.
  Eigen::VectorXd q, v;
  bool placed = false;
};

}  // namespace exposim
