#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/robot_update.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/kernels/identity_plus.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Makes the robot agree with contact space at the end of a step.
///
/// Strands are followed with Jacobian and normals frozen; those of the robot turn. On hard ground the small difference,
/// times K, would be read as a force, and would ring through the next step. What is stiff decides, in the metric of M:
///
///   δq = M⁻¹Jᵀα,   (Q⁻¹ + Υ) α = p_contact space − p(q⁺),   Q = dt² K + dt B,      and likewise δv
class Agreement {
 public:
  /// Moves q and v of the end, where the difference counts beside the forces that acted.
  /// @param ends modes of the strands at the end.
  void restore(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
               const RobotUpdate& update, const std::vector<Mode>& ends, double dt, State& next);

 private:
  enum class Feels : unsigned char { kNothing, kNormal, kAll };
  /// How far a strand is off, in position and velocity, as far as it feels that: a slipping one along its normal, an
  /// open one if it is below the surface.
  struct Difference {
    Feels rows;
    Eigen::Vector3d p, dp;
  };

  /// @return the largest force that the differences would be read as.
  double compare(const World& world, RobotData& data, const StiffSystem& system, const StrandList& strands,
                 const std::vector<Mode>& ends, double dt, const State& next);

  std::vector<Difference> differences_;
  Eigen::MatrixX2d moved_;  // of the blocks, by the forces that acted
  Eigen::MatrixXd stiffness_;
  IdentityPlus factors_;
  Eigen::MatrixX2d wrenches_, dv_;
  Eigen::VectorXd solved_, q_;
};

}  // namespace exposim
