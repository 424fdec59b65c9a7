#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "exposim/derivatives/step_derivatives.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/integrators/integrator.hpp"
#include "exposim/path.hpp"

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

/// How long steps may be that are chosen by their error.
struct StepChoice {
  double accuracy;           ///< of a step [m, rad, m/s, rad/s]
  double smallest, largest;  ///< [s]; the smallest are taken whatever their error
};

/// Of steps that were chosen by their error.
struct Advanced {
  long steps = 0, rejected = 0;
  double smallest = 0.0, largest = 0.0;  ///< of those taken [s]
  double error = 0.0;                    ///< sum of their estimates
};

/// A world at an instant, moved by one integrator at one step.
class Simulator {
 public:
  Simulator(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt);

  /// Goes on in another world of the same layout; until a reset or a restored state nothing else may be asked of it.
  void enter(const std::shared_ptr<const World>& world);

  /// Starts anew at t = 0 with no contact history, and applies the contact law.
  void reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  /// Restores a packed state that was committed before; the contact law is not applied again.
  /// @return false, with nothing changed, if x is not a state of this world.
  bool set_state(const Eigen::Ref<const Eigen::VectorXd>& x);
  const State& state() const { return now_.state; }
  /// x ⊕ dx of packed states, with stretches in the tangent planes where it leads.
  /// @return false if x is not a state of this world, or that would not be one.
  bool plus(const Eigen::VectorXd& x, const Eigen::VectorXd& dx, Eigen::VectorXd& moved);

  /// Forgets the events up to now.
  void forget_events() { events_.clear(); }
  /// All events since then; their times are those of the states.
  const std::vector<Event>& events() const { return events_; }
  /// What has been told of every strand, and that of another simulator in the same state: of those without a force.
  const std::vector<Hold>& holds() const { return now_.holds; }
  void take_holds(const std::vector<Hold>& told);
  /// The inside of the last step, for which it is taken once more; null if none was taken since a reset.
  std::shared_ptr<Path> path();
  /// Derivatives of the last step, for which it is taken once more. @return false if none was taken since a reset.
  bool differentiate(const DerivativeRequest& request, StepDerivatives& out);
  /// The same of a step of dt from a packed state, which leaves no trace.
  /// @param next packed, where it leads to.
  /// @return false if x is not a state of this world, or the step diverges.
  enum class Linearized : unsigned char { kDone, kNoState, kDiverged };
  Linearized linearize(const Eigen::Ref<const Eigen::VectorXd>& x, const Input& input, double dt,
                       const DerivativeRequest& request, StepDerivatives& out, Eigen::Ref<Eigen::VectorXd> next);
  /// v̇ now, with the input of the last step.
  Eigen::VectorXd acceleration();

  /// Takes up to n steps with the input held. @return false if a step diverged: the state is then the last good one.
  bool step(const Input& input, int n);

  /// Takes steps that are chosen by their error, with the input held, until a time is reached exactly.
  /// @param h what to begin with, and then to go on with [s].
  /// @param most steps.
  /// @param advanced to which they are added.
  /// @return false if a step diverged however small it was.
  bool advance(const Input& input, double until, const StepChoice& choice, long most, double& h, Advanced& advanced);

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
  /// What the step just taken led to is now.
  void accept();
  void note_divergence();
  /// Takes a step, and its derivatives unless it diverges.
  void differentiate(const Instant& start, const Input& input, double dt, Step& step, const DerivativeRequest& request,
                     StepDerivatives& out);
  /// Unpacks and evaluates a state beside the present one. @return false if it is not one of this world.
  bool evaluate_given(const Eigen::Ref<const Eigen::VectorXd>& x);

  std::shared_ptr<const World> world_;
  std::shared_ptr<const Integrator> integrator_;
  Workspace workspace_;
  double dt_;

  Instant now_;
  Instant given_;  // that is to take its place, once it is known to be good
  Step step_;
  Step tried_;   // from a state that is given
  Input input_;  // of the last step, with targets that are in force
  double last_dt_ = 0.0;
  bool has_stepped_ = false;  // from what is now in step_.next
  std::vector<Event> events_;
  StepStatistics statistics_;
  std::optional<Divergence> divergence_;
};

}  // namespace exposim
