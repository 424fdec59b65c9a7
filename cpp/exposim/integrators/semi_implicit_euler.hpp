#pragma once

#include "exposim/integrators/euler.hpp"

namespace exposim {

/// Semi-implicit (symplectic) Euler: q⁺ = q ⊕ dt v⁺. First order; the usual choice of game engines.
class SemiImplicitEuler final : public Euler {
  void displacement(const Eigen::VectorXd&, const Eigen::VectorXd& v_next, double dt,
                    Eigen::VectorXd& dq) const override {
    dq = dt * v_next;
  }
  std::pair<double, double> displacement_derivatives(double dt) const override { return {0.0, dt}; }
};

}  // namespace exposim
