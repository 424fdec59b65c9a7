#pragma once

#include "exposim/expo/averages.hpp"
#include "exposim/integrators/integrator.hpp"
#include "exposim/stiff/laws/paper_contact.hpp"

namespace exposim {

/// The paper's exponential integrator: all terms are those of the start of the step; the averages of λ, as if every
/// contact stuck, are projected on the friction cone; landings are noticed at the end of the step.
class PaperExpo final : public Integrator {
 public:
  /// Which average of λ moves the configuration.
  enum class PositionUpdate {
    kDoubleAverage,  ///< λ_pr2, the projected double average (eq:state_int_friction2)
    kSingleAverage,  ///< λ_pr, as if the force were constant over the step (eq:state_int_friction)
  };
  struct Options {
    ContactKernel kernel;
    PositionUpdate position_update = PositionUpdate::kDoubleAverage;
    AnchorRule anchor_rule = AnchorRule::kSurface;
    Projection projection = Projection::kHorizontal;
  };

  explicit PaperExpo(const Options& options) : options_(options) {}

  std::shared_ptr<const Law> contact_law(const Material& material) const override;
  std::unique_ptr<Scratch> make_scratch() const override;
  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const override;
  /// Known where the averages are those of the closed form: damping proportional to stiffness, no Padé approximant.
  bool differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step, StepTangent& out) const override;

 private:
  Options options_;
};

}  // namespace exposim
