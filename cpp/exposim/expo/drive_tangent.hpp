#pragma once

#include <Eigen/Core>

namespace exposim {

/// Derivatives of a drive on its way through a step (FollowedDrives::Track), a row of all directions to each number.
struct DriveTangent {
  double *x, *v, *force;
  double* force2;
  double *way, *v_end;
  double *lam_bar, *lam_bar2;
  /// See SystemTangent::drives; null: they do not change.
  const double* given;
  Eigen::Index length;

  enum Row : Eigen::Index { kForce, kK, kD, kX, kFitted, kV, kRows };
  const double* row(Row which) const { return given + which * length; }
};

}  // namespace exposim
