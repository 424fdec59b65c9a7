#pragma once

#include <Eigen/Core>
#include <memory>

#include "exposim/robot/tree.hpp"

namespace exposim {

/// What a joint makes of its velocity, in the frame that moves with its body: its velocity in the frame before it, and
/// the rate of that at v̇ = 0, as seen in the moving frame.
struct JointRates {
  Vec3 linear, angular, linear_drift, angular_drift;
};

/// The frame after a joint in the one before it.
struct JointPlacement {
  Mat3 R;
  Vec3 p;
};

/// Velocity of a joint at unit rate of one of its degrees of freedom, in the frame after it.
struct JointColumn {
  Vec3 linear, angular;
};

/// Joints of any kind by Pinocchio's own functions: slow, and for those that there is no short way for.
class PinocchioJoints {
 public:
  PinocchioJoints(const PinocchioModel& model, const Tree& tree);
  PinocchioJoints(PinocchioJoints&&) noexcept;
  PinocchioJoints& operator=(PinocchioJoints&&) noexcept;
  ~PinocchioJoints();

  JointPlacement place(std::size_t joint, const Eigen::VectorXd& q);
  /// Where the joint was placed last.
  JointColumn column(std::size_t joint, Eigen::Index k) const;
  JointRates move(std::size_t joint, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

 private:
  struct Joints;
  std::unique_ptr<Joints> joints_;
};

}  // namespace exposim
