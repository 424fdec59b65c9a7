#pragma once

#include "exposim/expo/joint_terms.hpp"
#include "exposim/integrators/integrator.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

struct ExpoScratch;

/// Exponential integrator of the contact dynamics.
///
/// The linear contact dynamics (eq:contact_dyn), with its terms frozen over the step, are integrated exactly; all else
/// is explicit. Where a contact may change within the step, the contact dynamics are followed through the change.
class Expo final : public Integrator {
 public:
  struct Options {
    int order = 2;  ///< 1: terms frozen at the start of the step; 2: at an estimate of its middle
    double tolerance = thresholds::kKernelTolerance;
    int micro_steps = thresholds::kMicroSteps;             ///< that follow contacts through a step, at least
    double micro_tolerance = thresholds::kMicroTolerance;  ///< of the mean acceleration of contacts in one [m/s²]
    double max_acceleration = thresholds::kMaxAcceleration;
    double max_turn = thresholds::kMaxTurn;  ///< of a body within a part of a step [rad]; infinite: no parts
  };

  explicit Expo(const Options& options) : options_(options) {}

  std::unique_ptr<Scratch> make_scratch() const override;
  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const override;
  bool differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step, StepTangent& out) const override;

 private:
  /// A step that is not divided, taken again where it missed a landing.
  void take_part(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                 Step& step) const;
  /// The same, taken again until motors and dry friction are what they were taken for.
  void take_once(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                 double max_acceleration, Step& step) const;
  /// q and v that such a step leads to. @return whether contacts change in it.
  bool move(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const;
  /// Terms of the dynamics with the velocity of the start: where that is, or, for order 2, half a step ahead.
  void update_terms_for(Workspace& workspace, const State& state, const Input& input, double dt) const;
  /// Looks ahead, and takes what depends on velocity at the mean velocity of the step; where contacts change, there M
  /// and J too, if that leads far from where they were taken.
  /// @return whether contacts change, by this estimate.
  bool look_ahead(const World& world, Workspace& workspace, const State& state, const Input& input, double dt) const;
  /// The same for the way that the step is known to take.
  void take_middle_of_way(const World& world, Workspace& workspace, const State& state, const Input& input,
                          double dt) const;
  /// Where terms of the dynamics are taken.
  const Eigen::VectorXd& velocity_of_terms(const ExpoScratch& scratch, const State& state) const;
  /// Follows contacts, and moves q and v. @return whether any changed; otherwise nothing is moved.
  bool follow(Workspace& workspace, const Instant& now, double dt, Step& step) const;
  /// Lets drives that react within the step be followed with contacts that turned out to change.
  void follow_as_strands(const World& world, Workspace& workspace, const Input& input, JointTerms::Which which) const;
  /// Fits what acts in the joints anew, where the terms are.
  void fit_again(Workspace& workspace, const Input& input) const;
  /// Notes the step for one who looks at its inside.
  void add_to_path(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                   bool changed, const Step& step) const;
  /// Takes what depends on velocity at (v + v⁺)/2: the implicit midpoint, which keeps the energy of what spins freely.
  /// @param all_held the last look ahead found all strands to hold, and knows how they respond.
  void repeat_at_the_mean_velocity(Workspace& workspace, const State& state, const Input& input, double dt,
                                   bool all_held, Step& step) const;

  Options options_;
};

}  // namespace exposim
