#pragma once

#include "exposim/integrators/euler.hpp"

namespace exposim {

/// Explicit Euler: q⁺ = q ⊕ (dt v + dt²/2 v̇). First order; stable only for dt ≪ √(m/K).
class ExplicitEuler final : public Euler {
  void displacement(const Eigen::VectorXd& v, const Eigen::VectorXd& v_next, double dt,
                    Eigen::VectorXd& dq) const override {
    dq = 0.5 * dt * (v + v_next);  // v̇ = (v⁺ − v)/dt is constant over the step
  }
  std::pair<double, double> displacement_derivatives(double dt) const override { return {0.5 * dt, 0.5 * dt}; }
};

}  // namespace exposim
