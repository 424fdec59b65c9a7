#pragma once

#include <utility>

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// What the Euler schemes share: v⁺ = v + dt v̇ with the contact forces of the present state.
class Euler : public Integrator {
 public:
  std::unique_ptr<Scratch> make_scratch() const final;
  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const final;
  bool differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step, StepTangent& out) const final;

 private:
  /// The displacement dq of q⁺ = q ⊕ dq.
  virtual void displacement(const Eigen::VectorXd& v, const Eigen::VectorXd& v_next, double dt,
                            Eigen::VectorXd& dq) const = 0;
  /// How much it changes with v and with v⁺.
  virtual std::pair<double, double> displacement_derivatives(double dt) const = 0;
};

}  // namespace exposim
