#pragma once

#include <Eigen/Core>

namespace exposim {

/// What a drive that is followed changes by (SystemTangent::drives).
struct DriveTangent {
  enum Row : Eigen::Index { kForce, kK, kD, kX, kFitted, kV, kRows };
};

}  // namespace exposim
