#pragma once

#include <Eigen/Core>

namespace exposim {

/// What the future of a contact depends on, beside the robot's q and v.
struct ContactState {
  bool active = false;
  bool slipping = false;
  Eigen::Vector3d p0 = Eigen::Vector3d::Zero();   ///< anchor [m], world frame
  Eigen::Vector3d dp0 = Eigen::Vector3d::Zero();  ///< its velocity [m/s]
};

}  // namespace exposim
