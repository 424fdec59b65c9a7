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
  const bool in_contact = !contact_dynamics_.points().empty();
  if (in_contact) {
    const Profiler::Scope scope(scene.profiler, Stage::kKernel);
    integrals_.compute(contact_dynamics_, dt);
    info.kernel = integrals_.info();
  }

  const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
  dv_.resize(state.v.size(), 2);
  dv_.colwise() = contact_dynamics_.w();
  if (in_contact) {
    project_forces(scene.contacts, info);
    dv_.noalias() += contact_dynamics_.Y() * wrenches_;
  }
  scene.dynamics.solve_Lt_in_place(dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Y Gᵀλ)
  v_next = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  scene.dynamics.integrate(state.q, dq_, q_next);
}

void Expo::project_forces(const ContactSet& contacts, StepInfo& info) {
  wrenches_.setZero(contact_dynamics_.Y().cols(), 2);
  for (std::size_t k = 0; k < contact_dynamics_.points().size(); ++k) {
    const ContactDynamics::Point& point = contact_dynamics_.points()[k];
    const ContactLaw& law = contacts.pair(point.contact).law;
    const Vector3d& n = contacts.motion(point.contact).n;
    const Vector3d lam_pr = law.project_to_cone(integrals_.lam_bar(k), n);
    const Vector3d lam_pr2 =
        position_update_ == PositionUpdate::kDoubleAverage ? law.project_to_cone(integrals_.lam_bar2(k), n) : lam_pr;
    contact_dynamics_.add_wrench(point, lam_pr, wrenches_.col(0));
    contact_dynamics_.add_wrench(point, lam_pr2, wrenches_.col(1));
    info.lam_pr.row(static_cast<Index>(point.contact)) = lam_pr;
    info.lam_pr2.row(static_cast<Index>(point.contact)) = lam_pr2;
  }
}

}  // namespace exposim
