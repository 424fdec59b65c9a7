#pragma once

#include "exposim/contact/contact_dynamics.hpp"
#include "exposim/contact/contact_integrals.hpp"
#include "exposim/contact/transitions.hpp"
#include "exposim/integrators/integrator.hpp"
#include "exposim/kernels/small_lu.hpp"

namespace exposim {

/// Exponential integrator of the contact dynamics.
///
/// The linear contact dynamics (eq:contact_dyn), with its terms frozen over the step, are integrated exactly; all else
/// is explicit. Where a contact may change within the step, the contact dynamics are followed through the change.
class Expo final : public Integrator {
 public:
  /// Which average of λ moves the configuration.
  enum class PositionUpdate {
    kDoubleAverage,  ///< λ_pr2, the projected double average: exact while nothing slips
    kSingleAverage,  ///< λ_pr, as if the force were constant over the step
  };
  /// What becomes of contacts that change within a step.
  enum class Transitions {
    kResolved,  ///< followed in contact space
    kAveraged,  ///< the paper: the averages of λ are projected on the friction cone (eq:state_int_friction,
                ///< eq:state_int_friction2), landings are noticed at the end
  };
  struct Options {
    ContactKernel kernel;
    PositionUpdate position_update = PositionUpdate::kDoubleAverage;
    Transitions transitions = Transitions::kResolved;
    int order = 1;  ///< 1: terms frozen at the start of the step; 2: at an estimate of its middle
  };

  explicit Expo(const Options& options) : options_(options), integrals_(options.kernel) {}

  void advance(Scene& scene, const State& state, const Input& input, double dt, State& next, StepInfo& info) override;

 private:
  /// Terms of the dynamics in the middle of the step: positions half a step ahead, velocities by predict_velocity.
  void update_terms_in_the_middle(Scene& scene, const State& state, const Input& input, double dt);
  /// The same where contacts change: by a resolved half step.
  void update_terms_in_a_changing_middle(Scene& scene, const State& state, const Input& input, double dt,
                                         StepInfo& info);
  /// v after half a step h, by the implicit Euler method in contact space: what is stiff does not blow up.
  void predict_velocity(Scene& scene, const State& state, double h);
  /// Averages of λ contact by contact, projected or resolved; their wrenches on the bodies (columns: single, double).
  void project_forces(const ContactSet& contacts, StepInfo& info);
  void take_resolved_forces(StepInfo& info);
  void add_forces(const ContactDynamics::Point& point, const Eigen::Vector3d& lam, const Eigen::Vector3d& lam2,
                  StepInfo& info);
  void take_resolved_contacts(State& next, StepInfo& info) const;
  void clear_wrenches();
  /// q and v after dt with the averages of λ whose wrenches are there.
  void integrate(Scene& scene, const State& state, double dt, Eigen::VectorXd& q, Eigen::VectorXd& v);

  Options options_;
  ContactIntegrals integrals_;
  TransitionResolver resolver_;

  ContactDynamics contact_dynamics_;
  std::vector<std::size_t> near_;
  Eigen::VectorXd q_middle_, v_middle_;  // of order 2
  Eigen::MatrixXd stiffness_;
  IdentityPlus factors_;
  Eigen::VectorXd wrench_, alpha_;
  Eigen::MatrixX2d wrenches_;  // Gᵀλ_pr and Gᵀλ_pr2
  Eigen::MatrixX2d dv_;        // the accelerations that they give
  Eigen::VectorXd dq_;
};

}  // namespace exposim
