#pragma once

#include <Eigen/Core>

#include "exposim/contact/transitions.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/scene.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// What Newton's method did in an implicit step.
struct NewtonInfo {
  int iterations = 0;
  bool converged = true;
  double residual = 0.0;  ///< ‖g‖ of the iterate kept
};

/// What a step did, for those who look inside.
struct StepInfo {
  KernelInfo kernel;
  NewtonInfo newton;
  TransitionInfo transitions;
  /// Contact forces that moved v and q, one row per contact [N]: their averages and double averages
  /// over the step, after projection. A scheme that holds the force constant has both the same.
  Eigen::MatrixX3d lam_pr, lam_pr2;
  /// Where transitions were resolved: positions of the contacts in contact space, to which next.contacts belong [m].
  Eigen::MatrixX3d p_end;

  /// Adds the present contact forces to both averages, by weight.
  void add_forces(const ContactSet& contacts, double weight, double weight2) {
    for (const std::size_t i : contacts.active()) {
      lam_pr.row(static_cast<Eigen::Index>(i)) += weight * contacts.force(i);
      lam_pr2.row(static_cast<Eigen::Index>(i)) += weight2 * contacts.force(i);
    }
  }
  /// The present contact forces are those of the whole step.
  void hold_forces(const ContactSet& contacts) {
    lam_pr.setZero();
    lam_pr2.setZero();
    add_forces(contacts, 1.0, 1.0);
  }
};

/// A time-stepping scheme with its options and its scratch memory.
///
/// The contact law is not an integrator's business: the caller commits it once, at the new (q, v). One that follows the
/// contacts through the step leaves in next.contacts what that starts from.
class Integrator {
 public:
  virtual ~Integrator() = default;

  /// Computes q and v after dt from a committed state at which the scene is evaluated; next.contacts are those of
  /// state.
  virtual void advance(Scene& scene, const State& state, const Input& input, double dt, State& next,
                       StepInfo& info) = 0;
};

}  // namespace exposim
