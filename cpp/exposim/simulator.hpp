#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "exposim/contact/contact_dynamics.hpp"
#include "exposim/integrators/integrator.hpp"
#include "exposim/scene.hpp"
#include "exposim/state.hpp"

namespace exposim {

/// The step that was refused because the state it led to is not finite or absurd.
struct Divergence {
  double t;              ///< end of that step [s]
  long step;             ///< its number since the last reset, from 1
  Eigen::VectorXd q, v;  ///< where it led
};

/// Of all steps since the last reset.
struct StepStatistics {
  long steps = 0;
  long iterations = 0;
  int max_iterations = 0;
  long not_converged = 0;
  long resolved = 0;  ///< transitions
  long limited = 0;
};

/// A robot among surfaces, moved by one integrator at one step.
class Simulator {
 public:
  /// Velocities beyond this [rad/s, m/s] are absurd.
  static constexpr double kMaxVelocity = 1e5;

  /// @param anchors per contact, where a bilateral one is anchored; none: at its position at reset.
  Simulator(std::shared_ptr<const Robot> robot, std::vector<ContactPair> pairs,
            std::vector<std::optional<Eigen::Vector3d>> anchors, std::unique_ptr<Integrator> integrator, double dt);

  /// Starts anew at t = 0 with no contact history, and applies the contact law.
  void reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  /// Restores a state that was committed before; the contact law is not applied again.
  void set_state(const State& state);
  const State& state() const { return state_; }

  /// Takes up to n steps with the input held. @return false if a step diverged: the state is then the last good one.
  bool step(const Input& input, int n);

  /// λ(t) at the given times from now that the frozen linear contact dynamics foresee (eq:contact_forces), not
  /// projected: one row per time, three columns per contact, zero where inactive.
  Eigen::MatrixXd predict_forces(const Eigen::VectorXd& times, const Input& input);

  /// The linear contact dynamics at the present state.
  ContactDynamics contact_dynamics(const Input& input);

  const Robot& robot() const { return scene_.dynamics.robot(); }
  const ContactSet& contacts() const { return scene_.contacts; }
  Scene& scene() { return scene_; }
  Integrator& integrator() { return *integrator_; }
  const StepStatistics& statistics() const { return statistics_; }
  const StepInfo& info() const { return info_; }
  const std::optional<Divergence>& divergence() const { return divergence_; }
  double dt() const { return dt_; }

 private:
  Scene scene_;
  std::vector<std::optional<Eigen::Vector3d>> anchors_;
  std::unique_ptr<Integrator> integrator_;
  double dt_;

  State state_, next_;
  StepInfo info_;
  StepStatistics statistics_;
  std::optional<Divergence> divergence_;
};

}  // namespace exposim
