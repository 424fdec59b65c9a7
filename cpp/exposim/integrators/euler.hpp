#pragma once

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// What the Euler schemes share: v⁺ = v + dt v̇ with the contact forces of the present state.
class Euler : public Integrator {
 public:
  void advance(Scene& scene, const State& state, const Input& input, double dt, State& next, StepInfo& info) final;

 private:
  /// The displacement dq of q⁺ = q ⊕ dq.
  virtual void displacement(const Eigen::VectorXd& v, const Eigen::VectorXd& v_next, double dt,
                            Eigen::VectorXd& dq) const = 0;

  Eigen::VectorXd dq_;
};

}  // namespace exposim
