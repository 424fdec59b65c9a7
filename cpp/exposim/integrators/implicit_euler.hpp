#pragma once

#include <Eigen/LU>

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// Implicit Euler, solved by Newton's method.
///
///   q⁺ = q ⊕ dt v⁺,   g(v⁺) = v⁺ − v − dt v̇(q ⊕ dt v⁺, v⁺) = 0
///
/// The first equation is satisfied by construction, which leaves half of the unknowns. v̇ follows the contact law from
/// the contacts at the start of the step, without committing it. The first guess is an explicit Euler step; steps are
/// shortened until ‖g‖ falls; the best iterate is kept. First order, stable at large steps, with artificial viscosity.
class ImplicitEuler final : public Integrator {
 public:
  /// @param tolerance on ‖g‖ [m/s, rad/s].
  ImplicitEuler(double tolerance, int max_iterations) : tolerance_(tolerance), max_iterations_(max_iterations) {}

  void advance(Scene& scene, const State& state, const Input& input, double dt, State& next, StepInfo& info) override;

  /// g and ∂g/∂v⁺ at v_next, for tests.
  void linearise(Scene& scene, const State& state, const Input& input, double dt, const Eigen::VectorXd& v_next,
                 Eigen::VectorXd& g, Eigen::MatrixXd& dg);

 private:
  /// An iterate: v⁺, the q⁺ that belongs to it, and g.
  struct Iterate {
    Eigen::VectorXd q, v, g;
    double norm = 0.0;
  };
  /// q⁺ and g for a v⁺; leaves the scene evaluated there.
  void evaluate(Scene& scene, const State& state, const Input& input, double dt, Iterate& iterate);
  /// ∂g/∂v⁺ where the scene was evaluated last.
  void update_jacobian(Scene& scene, const State& state, const Input& input, double dt, const Iterate& iterate);
  /// ∂(Jᵀλ)/∂q and ∂(Jᵀλ)/∂v, beyond what changes with forces fixed to the bodies; also for external wrenches.
  void update_force_derivatives(const Scene& scene, const State& state, const Input& input);

  double tolerance_;
  int max_iterations_;

  Iterate current_, trial_;
  Eigen::VectorXd dq_, newton_step_;
  Eigen::MatrixXd dforce_dq_, dforce_dv_, dintegrate_, by_dq_, dg_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  Dynamics::PointDerivatives point_;
  Eigen::Matrix3Xd dlam_dq_, dlam_dv_;
};

}  // namespace exposim
