#pragma once

#include <Eigen/Core>
#include <memory>

#include "exposim/robot/robot.hpp"
#include "exposim/robot/tree_data.hpp"
#include "exposim/robot/tree_factor.hpp"

namespace exposim {

using RowMatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One thread's memory for the rigid-body terms of a robot.
///
///   M(q) v̇ = u(q, v) + Jᵀλ,    u = f + Jₑᵀwₑ − h(q, v)                      (eq:robot_dyn)
///
/// The terms are computed and read by the functions of kinematics.hpp, mass_matrix.hpp, jacobians.hpp,
/// forward_dynamics.hpp and derivatives.hpp; each says which update it reads from.
class RobotData {
 public:
  explicit RobotData(std::shared_ptr<const Robot> robot);
  RobotData(RobotData&&) noexcept;
  RobotData& operator=(RobotData&&) noexcept;
  ~RobotData();

  /// Becomes that of another robot. @return whether that one is alike, for which nothing need be made anew.
  bool adopt(const std::shared_ptr<const Robot>& robot);

  const Robot& robot() const { return *robot_; }

  TreeData& tree() { return tree_; }
  const TreeData& tree() const { return tree_; }
  /// Of M, or with something added.
  TreeFactor& factor() { return factor_; }
  const TreeFactor& factor() const { return factor_; }

  struct Pinocchio;  // robot/pinocchio_data.hpp: for what is computed by its library
  Pinocchio& pinocchio() { return *pinocchio_; }
  const Pinocchio& pinocchio() const { return *pinocchio_; }

 private:
  std::shared_ptr<const Robot> robot_;
  std::shared_ptr<const Robot> made_for_;  // what follows, which may refer to it
  TreeData tree_;
  TreeFactor factor_;
  std::unique_ptr<Pinocchio> pinocchio_;
};

}  // namespace exposim
