#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "exposim/expo/system.hpp"
#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// The step that was refused because the state it led to is not finite or absurd.
struct Divergence {
  double t;               ///< end of that step [s]
  long step;              ///< its number since the last reset, from 1
  Eigen::VectorXd q, v;   ///< where it led
  Eigen::VectorXd start;  ///< the packed state before it
};

/// Of all steps since the last reset or restored state.
struct StepStatistics {
  long steps = 0;
  long iterations = 0;
  int max_iterations = 0;
  long not_converged = 0;
  long resolved = 0;  ///< transitions
  long limited = 0;
  long parts = 0;      ///< in which they were taken
  long overflows = 0;  ///< touches left out for want of a slot
};

/// A world at an instant, moved by one integrator at one step.
class Simulator {
 public:
  Simulator(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt);

  /// Starts anew at t = 0 with no contact history, and applies the contact law.
  void reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  /// Restores a packed state that was committed before; the contact law is not applied again.
  /// @return false, with nothing changed, if x is not a state of this world.
  bool set_state(const Eigen::Ref<const Eigen::VectorXd>& x);
  const State& state() const { return now_.state; }
  /// x ⊕ dx of packed states, with stretches in the tangent planes where it leads.
  /// @return false if x is not a state of this world, or that would not be one.
  bool plus(const Eigen::VectorXd& x, const Eigen::VectorXd& dx, Eigen::VectorXd& moved);

  /// Takes up to n steps with the input held. @return false if a step diverged: the state is then the last good one.
  bool step(const Input& input, int n);

  /// λ(t) at the given times from now that the frozen linear contact dynamics foresee (eq:contact_forces), not
  /// projected: one row per time, three columns per contact, zero where inactive.
  Eigen::MatrixXd predict_forces(const Eigen::VectorXd& times, const Input& input);

  /// The linear contact dynamics at the present state.
  StiffSystem stiff_system(const Input& input);

  const World& world() const { return *world_; }
  const Integrator& integrator() const { return *integrator_; }
  const Instant& now() const { return now_; }
  /// What the last step found; after a reset nothing. Where it led to is now().
  const Step& last_step() const { return step_; }
  Workspace& workspace() { return workspace_; }
  const StepStatistics& statistics() const { return statistics_; }
  const std::optional<Divergence>& divergence() const { return divergence_; }
  /// After a state was restored that another simulator diverged at.
  void set_divergence(const Divergence& divergence) { divergence_ = divergence; }
  double dt() const { return dt_; }

 private:
  void forget();
  /// Unpacks and evaluates a state beside the present one. @return false if it is not one of this world.
  bool evaluate_given(const Eigen::Ref<const Eigen::VectorXd>& x);

  std::shared_ptr<const World> world_;
  std::shared_ptr<const Integrator> integrator_;
  Workspace workspace_;
  double dt_;

  Instant now_;
  Instant given_;  // that is to take its place, once it is known to be good
  Step step_;
  Input delayed_;  // with targets that are in force
  StepStatistics statistics_;
  std::optional<Divergence> divergence_;
};

}  // namespace exposim
