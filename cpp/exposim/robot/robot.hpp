#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

namespace exposim {

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

  int nq() const { return nq_; }
  int nv() const { return nv_; }
  const std::vector<ContactPoint>& points() const { return points_; }
  const std::vector<int>& actuated() const { return actuated_; }
  const PinocchioModel& pinocchio() const { return *pinocchio_; }

 private:
  std::shared_ptr<const PinocchioModel> pinocchio_;
  std::vector<ContactPoint> points_;
  std::vector<int> actuated_;
  int nq_, nv_;
};

}  // namespace exposim
