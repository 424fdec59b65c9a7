#include "exposim/integrators/implicit_euler.hpp"

#include <Eigen/Geometry>
#include <utility>

namespace exposim {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Matrix3d skew(const Vector3d& a) {
  Matrix3d result;
  result << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return result;
}

}  // namespace

void ImplicitEuler::advance(Scene& scene, const State& state, const Input& input, double dt, State& next,
                            StepInfo& info) {
  constexpr int kMaxHalvings = 10;

  current_.v = state.v + dt * scene.acceleration(state.q, state.v, input);
  evaluate(scene, state, input, dt, current_);

  info.newton = {};
  bool stalled = false;
  while (current_.norm > tolerance_ && info.newton.iterations < max_iterations_ && !stalled) {
    update_jacobian(scene, state, input, dt, current_);
    {
      const Profiler::Scope scope(scene.profiler, Stage::kKernel);
      lu_.compute(dg_);
      newton_step_ = lu_.solve(current_.g);
    }
    ++info.newton.iterations;

    stalled = true;
    double length = 1.0;
    for (int halving = 0; stalled && halving <= kMaxHalvings; ++halving, length *= 0.5) {
      trial_.v = current_.v - length * newton_step_;
      evaluate(scene, state, input, dt, trial_);
      stalled = !(trial_.norm < current_.norm);  // also true for NaN
    }
    if (!stalled) std::swap(current_, trial_);
  }
  info.newton.converged = current_.norm <= tolerance_;
  info.newton.residual = current_.norm;

  if (stalled) evaluate(scene, state, input, dt, current_);
  info.hold_forces(scene.contacts);
  next.q = current_.q;
  next.v = current_.v;
}

void ImplicitEuler::linearise(Scene& scene, const State& state, const Input& input, double dt, const VectorXd& v_next,
                              VectorXd& g, MatrixXd& dg) {
  current_.v = v_next;
  evaluate(scene, state, input, dt, current_);
  update_jacobian(scene, state, input, dt, current_);
  g = current_.g;
  dg = dg_;
}

void ImplicitEuler::evaluate(Scene& scene, const State& state, const Input& input, double dt, Iterate& iterate) {
  {
    const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
    dq_ = dt * iterate.v;
    iterate.q.resize(state.q.size());
    scene.dynamics.integrate(state.q, dq_, iterate.q);
  }
  const VectorXd& dv = scene.acceleration_within_step(iterate.q, iterate.v, state.contacts, input);
  iterate.g = iterate.v - state.v - dt * dv;
  iterate.norm = iterate.g.norm();
}

void ImplicitEuler::update_jacobian(Scene& scene, const State& state, const Input& input, double dt,
                                    const Iterate& iterate) {
  const Profiler::Scope scope(scene.profiler, Stage::kTerms);
  Dynamics& dynamics = scene.dynamics;
  dynamics.update_acceleration_derivatives(iterate.q, iterate.v, input);
  update_force_derivatives(scene, state, input);
  dforce_dv_.diagonal() -= dynamics.joint_damping();

  dq_ = dt * iterate.v;
  dynamics.integrate_derivative(state.q, dq_, dintegrate_);

  // ∂g/∂v⁺ = I − dt (∂v̇/∂v + dt ∂v̇/∂q ∂(q ⊕ dt v⁺)/∂(dt v⁺))
  by_dq_ = dynamics.ddq_dq();
  by_dq_.noalias() += dynamics.M_inverse() * dforce_dq_;
  dg_ = -dt * dynamics.ddq_dv();
  dg_.noalias() -= dt * dynamics.M_inverse() * dforce_dv_;
  dg_.noalias() -= dt * dt * by_dq_ * dintegrate_;
  dg_.diagonal().array() += 1.0;
}

void ImplicitEuler::update_force_derivatives(const Scene& scene, const State& state, const Input& input) {
  const Eigen::Index nv = state.v.size();
  dforce_dq_.setZero(nv, nv);
  dforce_dv_.setZero(nv, nv);
  for (const std::size_t i : scene.contacts.active()) {
    const ContactMotion& motion = scene.contacts.motion(i);
    const Vector3d& lam = scene.contacts.force(i);
    Matrix3d dlam_dp, dlam_ddp;
    scene.contacts.pair(i).law.force_derivatives(motion, state.contacts[i], dlam_dp, dlam_ddp);
    scene.dynamics.point_derivatives(scene.contacts.joint(scene.dynamics, i), motion.p, motion.arm, point_);

    // A force fixed to the body would turn with it; the contact force does not.
    dlam_dq_.noalias() = dlam_dp * point_.dp_dq;
    dlam_dq_.noalias() += dlam_ddp * point_.ddp_dq;
    dlam_dq_.noalias() += skew(lam) * point_.J_omega;
    dlam_dv_.noalias() = dlam_ddp * point_.J;
    dforce_dq_.noalias() += point_.J.transpose() * dlam_dq_;
    dforce_dv_.noalias() += point_.J.transpose() * dlam_dv_;
    // Where a spherical foot touches moves over the foot as it rolls.
    if (!motion.arm.isZero()) {
      point_.dp_dq -= point_.J;
      dlam_dq_.noalias() = skew(lam) * point_.dp_dq;
      dforce_dq_.noalias() -= point_.J_omega.transpose() * dlam_dq_;
    }
  }
  for (const ExternalWrench& wrench : input.wrenches) {
    const Vector3d p = scene.dynamics.world_position(wrench.joint, wrench.position);
    scene.dynamics.point_derivatives(wrench.joint, p, Vector3d::Zero(), point_);
    dlam_dq_.noalias() = skew(wrench.force) * point_.J_omega;
    dforce_dq_.noalias() += point_.J.transpose() * dlam_dq_;
    dlam_dq_.noalias() = skew(wrench.torque) * point_.J_omega;
    dforce_dq_.noalias() += point_.J_omega.transpose() * dlam_dq_;
  }
}

}  // namespace exposim
