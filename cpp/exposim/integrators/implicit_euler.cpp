#include "exposim/integrators/implicit_euler.hpp"

#include <Eigen/LU>
#include <utility>

#include "exposim/integrators/force_derivatives.hpp"
#include "exposim/integrators/scheme_tangent.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct NewtonScratch final : Scratch {
  /// v⁺ with the q⁺ that belongs to it, its forces, and g.
  struct Iterate {
    Instant at;
    VectorXd g;
    double norm = 0.0;
  };
  Iterate current, trial;
  VectorXd dq, newton_step;
  ForceDerivatives forces;
  MatrixXd dintegrate, by_dq, dg;
  Eigen::PartialPivLU<MatrixXd> lu;
};

namespace {

/// One implicit step on its way.
class Newton {
 public:
  Newton(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt)
      : world_(world),
        workspace_(workspace),
        scratch_(static_cast<NewtonScratch&>(*workspace.scratch)),
        now_(now),
        input_(input),
        dt_(dt) {}

  /// q⁺, forces and g for the v⁺ of an iterate; leaves the robot's terms evaluated there.
  void evaluate(NewtonScratch::Iterate& iterate) {
    State& state = iterate.at.state;
    {
      const Profiler::Scope scope(workspace_.profiler, Stage::kIntegration);
      scratch_.dq = dt_ * state.v;
      integrate(world_.robot(), now_.state.q, scratch_.dq, state.q);
    }
    {
      const Profiler::Scope scope(workspace_.profiler, Stage::kContacts);
      state.memory = now_.state.memory;
      commit(world_, workspace_.robot, now_, nullptr, iterate.at);
    }
    const Profiler::Scope scope(workspace_.profiler, Stage::kTerms);
    iterate.g = state.v - now_.state.v - dt_ * acceleration(world_, workspace_, iterate.at, input_);
    iterate.norm = iterate.g.norm();
  }

  /// ∂g/∂v⁺ where an iterate was evaluated last.
  void update_jacobian(const NewtonScratch::Iterate& iterate) {
    const Profiler::Scope scope(workspace_.profiler, Stage::kTerms);
    NewtonScratch& s = scratch_;
    RobotData& robot = workspace_.robot;
    const State& state = iterate.at.state;
    update_acceleration_derivatives(robot, state.q, state.v);
    s.forces.update(world_, robot, now_, iterate.at, input_);
    s.dq = dt_ * state.v;
    integrate_derivative(world_.robot(), now_.state.q, s.dq, s.dintegrate);

    // ∂g/∂v⁺ = I − dt (∂v̇/∂v + dt ∂v̇/∂q ∂(q ⊕ dt v⁺)/∂(dt v⁺))
    s.by_dq = ddq_dq(robot);
    s.by_dq.noalias() += M_inverse(robot) * s.forces.by_q();
    s.dg = -dt_ * ddq_dv(robot);
    s.dg.noalias() -= dt_ * M_inverse(robot) * s.forces.by_v();
    s.dg.noalias() -= dt_ * dt_ * s.by_dq * s.dintegrate;
    s.dg.diagonal().array() += 1.0;
  }

 private:
  const World& world_;
  Workspace& workspace_;
  NewtonScratch& scratch_;
  const Instant& now_;
  const Input& input_;
  double dt_;
};

}  // namespace

std::unique_ptr<Scratch> ImplicitEuler::make_scratch() const { return std::make_unique<NewtonScratch>(); }

void ImplicitEuler::step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                         Step& step) const {
  constexpr int kMaxHalvings = 10;
  auto& s = static_cast<NewtonScratch&>(*workspace.scratch);
  Newton newton(world, workspace, now, input, dt);
  step.clear(world.strands());
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    s.current.at.state.v = now.state.v + dt * acceleration(world, workspace, now, input);
  }
  newton.evaluate(s.current);

  bool stalled = false;
  while (s.current.norm > tolerance_ && step.newton.iterations < max_iterations_ && !stalled) {
    newton.update_jacobian(s.current);
    {
      const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
      s.lu.compute(s.dg);
      s.newton_step = s.lu.solve(s.current.g);
    }
    ++step.newton.iterations;

    stalled = true;
    double length = 1.0;
    for (int halving = 0; stalled && halving <= kMaxHalvings; ++halving, length *= 0.5) {
      s.trial.at.state.v = s.current.at.state.v - length * s.newton_step;
      newton.evaluate(s.trial);
      stalled = !(s.trial.norm < s.current.norm);  // also true for NaN
    }
    if (!stalled) std::swap(s.current, s.trial);
  }
  step.newton.converged = s.current.norm <= tolerance_;
  step.newton.residual = s.current.norm;

  step.lam = step.lam2 = s.current.at.lam;
  update_dof_forces(world, s.current.at.state, input, workspace.dof_forces);
  step.motors = workspace.dof_forces.motors;
  step.next.state.q = s.current.at.state.q;
  step.next.state.v = s.current.at.state.v;
  step.next.state.memory = now.state.memory;
  finish(world, workspace, now, nullptr, dt, step);
}

bool ImplicitEuler::differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input,
                                  double dt, Step& step, StepTangent& out) const {
  if (!SchemeTangent::supports(world)) return false;
  this->step(world, workspace, now, input, dt, step);
  if (step.diverged || !step.newton.converged) return false;
  auto& s = static_cast<NewtonScratch&>(*workspace.scratch);
  Newton newton(world, workspace, now, input, dt);
  newton.evaluate(s.current);
  const State& at = s.current.at.state;
  const VectorXd a = (at.v - now.state.v - s.current.g) / dt, way = dt * at.v;
  newton.update_jacobian(s.current);
  s.lu.compute(s.dg);

  // dg/dv⁺ dv⁺ = dv + dt dv̇, the latter with v⁺ held.
  SchemeTangent tangent(world, now, input, out);
  tangent.begin(workspace.robot);
  const PlaceTangent start = tangent.start();
  const Tangent held = Tangent::Zero(start.dv.rows(), start.dv.cols());
  PlaceTangent place{tangent.moved(now.state.q, way, start.dq, held), held};
  place.dv = s.lu.solve(MatrixXd(start.dv + dt * tangent.accelerate(workspace.robot, s.current.at, place, a)));
  place.dq = tangent.moved(now.state.q, way, start.dq, dt * place.dv);
  tangent.end(workspace.robot, step, place);
  return tangent.supported();
}

void ImplicitEuler::linearise(const World& world, Workspace& workspace, const Instant& now, const Input& input,
                              double dt, const VectorXd& v_next, VectorXd& g, MatrixXd& dg) const {
  auto& s = static_cast<NewtonScratch&>(*workspace.scratch);
  Newton newton(world, workspace, now, input, dt);
  s.current.at.state.v = v_next;
  newton.evaluate(s.current);
  newton.update_jacobian(s.current);
  g = s.current.g;
  dg = s.dg;
}

}  // namespace exposim
