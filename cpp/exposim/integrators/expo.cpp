#include "exposim/integrators/expo.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

void Expo::advance(Scene& scene, const State& state, const Input& input, double dt, VectorXd& q_next, VectorXd& v_next,
                   StepInfo& info) {
  info.lam_pr.setZero();
  info.lam_pr2.setZero();
  info.kernel = {};
  {
    const Profiler::Scope scope(scene.profiler, Stage::kTerms);
    contact_dynamics_.update(scene.dynamics, scene.contacts, state, input);
  }
  const bool in_contact = contact_dynamics_.contact_count() > 0;
  if (in_contact) {
    const Profiler::Scope scope(scene.profiler, Stage::kKernel);
    kernel_.compute(contact_dynamics_.A(), contact_dynamics_.b(), contact_dynamics_.x0(), dt);
    info.kernel = kernel_.info();
  }

  const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
  dv_.resize(state.v.size(), 2);
  dv_.colwise() = contact_dynamics_.w();
  if (in_contact) {
    average_forces(scene.contacts, dt, info);
    dv_.noalias() += contact_dynamics_.Y() * lam_;
  }
  scene.dynamics.solve_Lt_in_place(dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Yλ)
  v_next = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  scene.dynamics.integrate(state.q, dq_, q_next);
}

void Expo::average_forces(const ContactSet& contacts, double dt, StepInfo& info) {
  lam_.resize(3 * contact_dynamics_.contact_count(), 2);
  Index k = 0;
  for (const std::size_t i : contacts.active()) {
    const ContactLaw& law = contacts.pair(i).law;
    const Vector3d& n = contacts.motion(i).n;
    const Vector3d lam_bar = contact_dynamics_.force(contacts, i, k, kernel_.x_int()) / dt;
    const Vector3d lam_bar2 = contact_dynamics_.force(contacts, i, k, kernel_.x_int2()) * (2.0 / (dt * dt));

    const Vector3d lam_pr = law.project_to_cone(lam_bar, n);
    const Vector3d lam_pr2 =
        position_update_ == PositionUpdate::kDoubleAverage ? law.project_to_cone(lam_bar2, n) : lam_pr;
    lam_.col(0).segment<3>(3 * k) = lam_pr;
    lam_.col(1).segment<3>(3 * k) = lam_pr2;
    info.lam_pr.row(static_cast<Index>(i)) = lam_pr;
    info.lam_pr2.row(static_cast<Index>(i)) = lam_pr2;
    ++k;
  }
}

}  // namespace exposim
