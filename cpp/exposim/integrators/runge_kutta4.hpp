#pragma once

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// The classical fourth-order Runge-Kutta scheme, on the manifold of configurations.
///
/// Averaging velocities of different stages as if they lived in one tangent space would cost an order wherever the base
/// rotates. The configuration is therefore moved by compositions of ⊕ alone, the commutator-free scheme CF4 of
/// Celledoni, Marthinsen and Owren (2003), which on vector spaces is the classical scheme:
///
///   q₂ = q ⊕ h/2 v₁,   q₃ = q ⊕ h/2 v₂,   q₄ = q₂ ⊕ h (v₃ − v₁/2)
///   q⁺ = q ⊕ h/12 (3v₁ + 2v₂ + 2v₃ − v₄) ⊕ h/12 (−v₁ + 2v₂ + 2v₃ + 3v₄)
///
/// Stages follow the contact law from the contacts at the start of the step, without keeping what it leaves. Fourth
/// order while no contact changes, first order through changes; explicit, so stable only for small steps.
class RungeKutta4 final : public Integrator {
 public:
  std::unique_ptr<Scratch> make_scratch() const override;
  void step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
            Step& step) const override;
  bool differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step, StepTangent& out) const override;
};

}  // namespace exposim
