#pragma once

#include <Eigen/Core>

#include "exposim/expo/system.hpp"
#include "exposim/stiff/law.hpp"

namespace exposim {

/// A strand on its way through a step that is resolved.
struct StrandTrack {
  const StiffSystem::Row* row;
  Eigen::Index first;  ///< of the coordinates of its block among those of the group
  Eigen::Index size;   ///< how many these are
  const Law* law;
  Phase phase;
  bool due;                           ///< the event that ends this micro-step is its own
  double event;                       ///< when it changes within the micro-step [s]
  Eigen::Vector3d ddp_bar;            ///< acceleration without stiff forces and drives
  Eigen::Matrix3d Q;                  ///< −∂λ/∂p̈ within a stage
  Eigen::Vector3d Qc, Kv;             ///< of that acceleration, and of the velocity
  Eigen::Vector3d lam1, lam2;         ///< of the stages
  Eigen::Vector3d a1, a2;             ///< accelerations of the stages
  Eigen::Vector3d way, dp_end;        ///< displacement in the micro-step, velocity at its end
  Eigen::Vector3d end;                ///< displacement from the anchor there
  Eigen::Vector3d moved;              ///< displacement since the start of the step
  Eigen::Vector3d lam_bar, lam_bar2;  ///< single and double integral of λ; at the end the averages

  /// Nothing pushes it.
  bool is_free() const { return phase.mode == Mode::kOpen || phase.mode == Mode::kIdle; }
};

}  // namespace exposim
