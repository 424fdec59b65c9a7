#pragma once

#include <memory>
#include <vector>

#include "exposim/contact/evaluation.hpp"
#include "exposim/instant.hpp"
#include "exposim/robot/input.hpp"
#include "exposim/step.hpp"
#include "exposim/step_tangent.hpp"
#include "exposim/stiff/law.hpp"
#include "exposim/stiff/material.hpp"
#include "exposim/workspace.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// A time-stepping scheme: its options, nothing that changes. One may serve any number of threads.
class Integrator {
 public:
  virtual ~Integrator() = default;

  /// The law by which a contact of that material goes.
  virtual std::shared_ptr<const Law> contact_law(const Material& material) const;
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }

  /// One step of dt from an instant, in a workspace with this scheme's scratch, whatever it was used for before.
  virtual void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                    Step& step) const = 0;

  /// The same step, with its derivatives. @return false where they are not known.
  virtual bool differentiate(const World&, Workspace&, const Instant&, const Input&, double, Step&,
                             StepTangent&) const {
    return false;
  }

 protected:
  /// t + dt, as a multiple of dt where t is one, so that rounding does not add up.
  static double time_after(double t, double dt);
  /// The end of every step: time, divergence, and the laws at the q and v of step.next, from its memory.
  static void finish(const World& world, Workspace& workspace, const Instant& now,
                     const std::vector<Followed>* followed, double dt, Step& step);
};

}  // namespace exposim
