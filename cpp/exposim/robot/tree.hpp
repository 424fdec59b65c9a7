#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "exposim/robot/vector3.hpp"

namespace exposim {

struct PinocchioModel;

/// What a joint does, if there is a short way to compute it; else Pinocchio's joint computes it.
enum class JointKind : unsigned char { kHinge, kEndlessHinge, kSlide, kFree, kOther };

/// A joint and the body that it moves, as the model has them. Frames are the joint's, which moves with the body.
struct TreeJoint {
  JointKind kind = JointKind::kOther;
  bool turned = false;  ///< whether its placement has a rotation
  int along = -1;       ///< the axis of the frame that a hinge turns about, either way; −1: another one
  std::size_t parent = 0;
  Eigen::Index in_q = 0, in_v = 0, nv = 0;
  Eigen::Index depth = 0;  ///< number of degrees of freedom that carry the joint
  std::size_t first = 0;   ///< where its columns begin in the packed M, see TreeFactor
  Vec3 axis;               ///< of a hinge or slide
  double sign = 0.0;       ///< which way, if it is an axis of the frame
  Mat3 turn;               ///< placement in the frame of the parent, at rest
  Vec3 shift;
  double mass = 0.0;  ///< of the body [kg]
  Vec3 mc;            ///< mass times centre of mass [kg·m]
  Symmetric3 I;       ///< about the frame's origin [kg·m²]
  Vec3 lever;         ///< of a free body that carries nothing, its centre of mass [m]; else zero
};

/// The joints and bodies of a robot, side by side; 0 is the world.
struct Tree {
  explicit Tree(const PinocchioModel& model);

  std::vector<TreeJoint> joints;
  std::vector<std::size_t> free_bodies;  ///< those of free-flyer joints on the world
  std::vector<std::size_t> hinges;       ///< those of an angle
  bool has_others = false;               ///< whether some joint is of no kind that there is a short way for
  Eigen::VectorXd armature;              ///< added to the diagonal of M
  std::size_t packed = 0;                ///< entries of M that are not zero for certain, above the diagonal and on it
  Vec3 gravity;
};

}  // namespace exposim
