#pragma once

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// First-order exponential integrator of the contact dynamics.
///
///   d ⎡Δp ⎤   ⎡  0    I ⎤ ⎡Δp ⎤   ⎡ 0 ⎤
///   ─ ⎢   ⎥ = ⎢         ⎥ ⎢   ⎥ + ⎢   ⎥,    λ = −K Δp − B Δṗ            (eq:contact_dyn, eq:contact_forces)
///   dt⎣Δṗ ⎦   ⎣−ΥK  −ΥB ⎦ ⎣Δṗ ⎦   ⎣p̈̄ ⎦
///
/// is integrated exactly with Υ = J M⁻¹ Jᵀ and p̈̄ = J v̇̄ + J̇v frozen over the step; all else is explicit.
/// The time averages of λ are projected on the friction cone (eq:state_int_friction, eq:state_int_friction2).
class Expo final : public Integrator {
 public:
  /// Which average of λ moves the configuration.
  enum class PositionUpdate {
    kDoubleAverage,  ///< λ_pr2, the projected double average: exact while nothing slips
    kSingleAverage,  ///< λ_pr, as if the force were constant over the step
  };

  Expo(KernelOptions kernel, PositionUpdate position_update) : kernel_(kernel), position_update_(position_update) {}

  void advance(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input, double dt,
               Eigen::VectorXd& q_next, Eigen::VectorXd& v_next, StepInfo& info) override;

 private:
  void resize(Eigen::Index nv, Eigen::Index contact_count);
  /// Υ, p̈̄ and from them A, b, x0.
  void prepare_contact_dynamics(const Dynamics& dynamics, const ContactSet& contacts, const State& state);
  /// λ averaged over the step (columns: single and double), projected contact by contact.
  void average_forces(const ContactSet& contacts, double dt, StepInfo& info);

  IntegralKernel kernel_;
  PositionUpdate position_update_;

  Eigen::VectorXd u_, dq_;
  Eigen::MatrixXd Y_;            // L⁻¹Jᵀ, nv × 3n: Υ = YᵀY
  Eigen::VectorXd ddp_bar_, w_;  // w = L⁻¹u: v̇̄ = L⁻ᵀw
  Eigen::MatrixXd Upsilon_, A_;
  Eigen::VectorXd b_, x0_;
  Eigen::MatrixX2d lam_;  // projected averages, stacked: λ_pr and λ_pr2
  Eigen::MatrixX2d dv_;   // the accelerations that they give
};

}  // namespace exposim
