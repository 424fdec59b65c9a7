#pragma once

#include <Eigen/Core>

#include "exposim/contact/contact_set.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/robot/dynamics.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// What a step did, for those who look inside.
struct StepInfo {
  KernelInfo kernel;
  /// Contact forces that moved v and q, one row per contact [N]: their averages and double averages
  /// over the step, after projection. A scheme that holds the force constant has both the same.
  Eigen::MatrixX3d lam_pr, lam_pr2;
};

/// A time-stepping scheme with its options and its scratch memory.
///
/// The contact law is not an integrator's business: the caller commits it once, at the new (q, v).
class Integrator {
 public:
  virtual ~Integrator() = default;

  /// Computes q and v after dt from a committed state at which dynamics' kinematics and contacts are evaluated.
  virtual void advance(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input,
                       double dt, Eigen::VectorXd& q_next, Eigen::VectorXd& v_next, StepInfo& info) = 0;
};

}  // namespace exposim
