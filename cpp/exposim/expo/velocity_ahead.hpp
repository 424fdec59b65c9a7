#pragma once

#include <Eigen/Core>

#include "exposim/contact/strands.hpp"
#include "exposim/expo/sprung_blocks.hpp"

namespace exposim {

/// A velocity a little ahead, by the implicit Euler method in contact space: what is stiff does not blow up.
class VelocityAhead {
 public:
  /// v after h, from the velocity at the start.
  /// @return whether all strands are still in their modes then, by this estimate; otherwise there is no v.
  bool predict(const RobotData& data, const StiffSystem& system, const StrandList& strands,
               const Eigen::VectorXd& start, double h, Eigen::VectorXd& v);

 private:
  SprungBlocks blocks_;
  Eigen::VectorXd wrench_;
};

}  // namespace exposim
