#pragma once

#include "exposim/integrators/integrator.hpp"

namespace exposim {

struct NewtonScratch;

/// Implicit Euler, solved by Newton's method.
///
///   q⁺ = q ⊕ dt v⁺,   g(v⁺) = v⁺ − v − dt v̇(q ⊕ dt v⁺, v⁺) = 0
///
/// The first equation is satisfied by construction, which leaves half of the unknowns. v̇ follows the laws from the
/// memories at the start of the step, without keeping what they become. The first guess is an explicit Euler step;
/// steps are shortened until ‖g‖ falls; the best iterate is kept. First order, stable at large steps, with artificial
/// viscosity.
class ImplicitEuler final : public Integrator {
 public:
  /// @param tolerance on ‖g‖ [m/s, rad/s].
  ImplicitEuler(double tolerance, int max_iterations) : tolerance_(tolerance), max_iterations_(max_iterations) {}

  std::unique_ptr<Scratch> make_scratch() const override;
  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const override;
  /// By the implicit function that g = 0 defines; not known where Newton's method did not converge.
  bool differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step, StepTangent& out) const override;

  /// g and ∂g/∂v⁺ at v_next, for tests.
  void linearise(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                 const Eigen::VectorXd& v_next, Eigen::VectorXd& g, Eigen::MatrixXd& dg) const;

 private:
  double tolerance_;
  int max_iterations_;
};

}  // namespace exposim
