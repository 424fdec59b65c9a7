#pragma once

#include "exposim/contact/contact_dynamics.hpp"
#include "exposim/contact/contact_integrals.hpp"
#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// First-order exponential integrator of the contact dynamics.
///
/// The linear contact dynamics (eq:contact_dyn), frozen at the start of the step, are integrated exactly; all else is
/// explicit. The time averages of λ are projected on the friction cone (eq:state_int_friction,
/// eq:state_int_friction2).
class Expo final : public Integrator {
 public:
  /// Which average of λ moves the configuration.
  enum class PositionUpdate {
    kDoubleAverage,  ///< λ_pr2, the projected double average: exact while nothing slips
    kSingleAverage,  ///< λ_pr, as if the force were constant over the step
  };

  Expo(const ContactKernel& kernel, PositionUpdate position_update)
      : integrals_(kernel), position_update_(position_update) {}

  void advance(Scene& scene, const State& state, const Input& input, double dt, Eigen::VectorXd& q_next,
               Eigen::VectorXd& v_next, StepInfo& info) override;

 private:
  /// Projects the averages of λ contact by contact; their wrenches on the bodies (columns: single and double).
  void project_forces(const ContactSet& contacts, StepInfo& info);

  ContactIntegrals integrals_;
  PositionUpdate position_update_;

  ContactDynamics contact_dynamics_;
  Eigen::MatrixX2d wrenches_;  // Gᵀλ_pr and Gᵀλ_pr2
  Eigen::MatrixX2d dv_;        // the accelerations that they give
  Eigen::VectorXd dq_;
};

}  // namespace exposim
