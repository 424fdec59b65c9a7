#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace exposim {

struct Tree;            // robot/tree.hpp
struct PinocchioModel;  // robot/pinocchio_model.hpp; keeps Pinocchio's headers out of most units

/// A point of the robot that may touch something: a sphere of radius r around `position`.
struct ContactPoint {
  std::size_t joint;         ///< index of the body it is fixed to
  Eigen::Vector3d position;  ///< centre, in that joint's frame [m]
  double radius = 0.0;       ///< [m]
};

/// The mechanical model and its contact points; never changes.
class Robot {
 public:
  /// @param serialized_model what pinocchio.Model.saveToString() gives.
  /// @param actuated index in v of every actuated degree of freedom.
  /// @throws std::invalid_argument if the text is not a serialized model.
  Robot(const std::string& serialized_model, std::vector<ContactPoint> points, std::vector<int> actuated);

  /// The same with other masses of bodies, by joint [kg]: the inertia of each is scaled alike, its centre of mass
  /// stays.
  std::shared_ptr<Robot> with_masses(const std::vector<std::pair<std::size_t, double>>& masses) const;
  /// Whether one was made of the other, or both of a third, so that only masses differ.
  bool is_alike(const Robot& other) const { return first_ == other.first_; }

  int nq() const { return nq_; }
  int nv() const { return nv_; }
  /// Where a degree of freedom stands in q, if it is a joint's only one and q is linear in it; else −1.
  Eigen::Index in_q(Eigen::Index dof) const { return in_q_[static_cast<std::size_t>(dof)]; }
  /// The joint that a degree of freedom belongs to.
  std::size_t joint_of(Eigen::Index dof) const { return joint_of_[static_cast<std::size_t>(dof)]; }
  /// Degrees of freedom that move the body of a joint; none for the world, 0.
  const std::vector<Eigen::Index>& supports(std::size_t joint) const { return supports_[joint]; }
  /// Copies the part of q that belongs to the joint of a degree of freedom.
  void copy_joint(Eigen::Index dof, const Eigen::VectorXd& from, Eigen::VectorXd& to) const;
  /// Viscous damping of every degree of freedom.
  const Eigen::VectorXd& damping() const { return damping_; }
  const std::vector<ContactPoint>& points() const { return points_; }
  const std::vector<int>& actuated() const { return actuated_; }
  const Tree& tree() const { return *tree_; }
  const PinocchioModel& pinocchio() const { return *pinocchio_; }

 private:
  std::shared_ptr<const PinocchioModel> pinocchio_;
  std::shared_ptr<const PinocchioModel> first_;  // that it was made of, before masses were changed
  std::shared_ptr<const Tree> tree_;
  std::vector<ContactPoint> points_;
  std::vector<int> actuated_;
  std::vector<Eigen::Index> in_q_;
  std::vector<std::size_t> joint_of_;
  std::vector<std::vector<Eigen::Index>> supports_;
  Eigen::VectorXd damping_;
  int nq_, nv_;
};

}  // namespace exposim
