#pragma once

#include <Eigen/Core>
#include <memory>

#include "exposim/robot/tree.hpp"

namespace exposim {

/// What a joint makes of its velocity, in the frame that moves with its body: its velocity in the frame before it, and
/// the rate of that at v̇ = 0, as seen in the moving frame.
struct JointRates {
  Eigen::Vector3d linear, angular, linear_drift, angular_drift;
};

/// Joints of any kind by Pinocchio's own functions: slow, and for those that there is no short way for.
class PinocchioJoints {
 public:
  PinocchioJoints(const PinocchioModel& model, const Tree& tree);
  PinocchioJoints(PinocchioJoints&&) noexcept;
  ~PinocchioJoints();

  /// Placement of the frame after the joint in the one before it.
  void place(std::size_t joint, const Eigen::VectorXd& q, Eigen::Matrix3d& R, Eigen::Vector3d& p);
  /// Column k of its motion subspace where it was placed last, in the frame after it.
  void column(std::size_t joint, Eigen::Index k, Eigen::Vector3d& linear, Eigen::Vector3d& angular) const;
  JointRates move(std::size_t joint, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

 private:
  struct Joints;
  std::unique_ptr<Joints> joints_;
};

}  // namespace exposim
