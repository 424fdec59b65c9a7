#include "exposim/integrators/expo.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// To follow contacts through a step, and through its first half, where an estimate will do.
constexpr int kMicroSteps = 20, kMicroStepsAhead = 5;

}  // namespace

void Expo::advance(Scene& scene, const State& state, const Input& input, double dt, State& next, StepInfo& info) {
  info.lam_pr.setZero();
  info.lam_pr2.setZero();
  info.kernel = {};
  info.transitions = {};
  const bool resolve = options_.transitions == Transitions::kResolved;
  near_.clear();
  if (resolve) find_near_contacts(scene.contacts, state, dt, near_);
  {
    const Profiler::Scope scope(scene.profiler, Stage::kTerms);
    if (options_.order == 1) {
      contact_dynamics_.update(scene.dynamics, scene.contacts, state, input, near_);
    } else {
      update_terms_in_the_middle(scene, state, input, dt);
    }
  }
  const bool in_contact = !contact_dynamics_.points().empty();
  bool changing = false;
  if (!contact_dynamics_.bodies().empty()) {
    const Profiler::Scope scope(scene.profiler, Stage::kKernel);
    if (in_contact) {
      integrals_.compute(contact_dynamics_, dt, resolve);
      info.kernel = integrals_.info();
    }
    changing = resolve && may_change(contact_dynamics_, scene.contacts, state, integrals_, dt);
    if (changing) {
      if (options_.order == 2) update_terms_in_a_changing_middle(scene, state, input, dt, info);
      resolver_.resolve(contact_dynamics_, scene.contacts, state, dt, kMicroSteps);
      info.transitions = resolver_.info();
      changing = !resolver_.unchanged();
      if (!changing && in_contact) integrals_.compute(contact_dynamics_, dt);  // exact, with the latest terms
    }
  }

  const Profiler::Scope scope(scene.profiler, Stage::kIntegration);
  if (changing) {
    take_resolved_forces(info);
    take_resolved_contacts(next, info);
  } else {
    project_forces(scene.contacts, info);
  }
  integrate(scene, state, dt, next.q, next.v);
}

void Expo::integrate(Scene& scene, const State& state, double dt, VectorXd& q, VectorXd& v) {
  dv_.resize(state.v.size(), 2);
  dv_.colwise() = contact_dynamics_.w();
  if (wrenches_.rows() > 0) dv_.noalias() += contact_dynamics_.Y() * wrenches_;
  scene.dynamics.solve_Lt_in_place(dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Y Gᵀλ)
  v = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  scene.dynamics.integrate(state.q, dq_, q);
}

void Expo::update_terms_in_the_middle(Scene& scene, const State& state, const Input& input, double dt) {
  const double h = 0.5 * dt;
  q_middle_.resize(state.q.size());
  dq_ = h * state.v;
  scene.dynamics.integrate(state.q, dq_, q_middle_);
  const ContactDynamics::Middle middle{q_middle_, state.v};
  contact_dynamics_.update(scene.dynamics, scene.contacts, state, input, near_, &middle);
  predict_velocity(scene, state, h);
  contact_dynamics_.update_bias(scene.dynamics, input, q_middle_, v_middle_);
}

void Expo::update_terms_in_a_changing_middle(Scene& scene, const State& state, const Input& input, double dt,
                                             StepInfo& info) {
  const double h = 0.5 * dt;
  resolver_.resolve(contact_dynamics_, scene.contacts, state, h, kMicroStepsAhead);
  take_resolved_forces(info);
  integrate(scene, state, h, q_middle_, v_middle_);
  const ContactDynamics::Middle middle{q_middle_, v_middle_};
  contact_dynamics_.update(scene.dynamics, scene.contacts, state, input, near_, &middle);
  info.lam_pr.setZero();
  info.lam_pr2.setZero();
}

void Expo::clear_wrenches() {
  const bool any = !contact_dynamics_.bodies().empty();
  wrenches_.setZero(any ? contact_dynamics_.Y().cols() : 0, 2);
}

void Expo::predict_velocity(Scene& scene, const State& state, double h) {
  const Index r = contact_dynamics_.active_size();
  v_middle_ = contact_dynamics_.w();
  if (r > 0) {
    const auto Upsilon = contact_dynamics_.Upsilon_body().topLeftCorner(r, r);
    stiffness_.setZero(r, r);
    wrench_.setZero(r);
    for (const ContactDynamics::Point& point : contact_dynamics_.points()) {
      const ContactDynamics::Body& body = contact_dynamics_.bodies()[point.body];
      const Eigen::Matrix3d Q = h * (point.B + h * point.K);
      if (body.size == 3) {
        stiffness_.block<3, 3>(body.first, body.first) = Q;
      } else {
        const Eigen::Matrix<double, 3, 6> G = contact_dynamics_.G(point);
        stiffness_.block<6, 6>(body.first, body.first) += G.transpose() * Q * G;
      }
      contact_dynamics_.add_wrench(point, contact_dynamics_.force_ahead(point, h), wrench_);
    }
    // (I + Υ GᵀQG) α = Υ Gᵀλ: the accelerations that the forces at the end of the half step cause.
    factors_.factor_product(Upsilon, stiffness_);
    alpha_.noalias() = Upsilon.lazyProduct(wrench_);
    factors_.solve_in_place(alpha_);
    wrench_.setZero();
    for (const ContactDynamics::Point& point : contact_dynamics_.points()) {
      const Eigen::Matrix3d Q = h * (point.B + h * point.K);
      const Vector3d lam = contact_dynamics_.force_ahead(point, h) - Q * contact_dynamics_.point_of(point, alpha_);
      const ContactLaw& law = scene.contacts.pair(point.contact).law;
      contact_dynamics_.add_wrench(point, law.project_to_cone(lam, scene.contacts.motion(point.contact).n), wrench_);
    }
    v_middle_.noalias() += contact_dynamics_.Y().leftCols(r) * wrench_;
  }
  scene.dynamics.solve_Lt_in_place(v_middle_);
  v_middle_ = state.v + h * v_middle_;
}

void Expo::project_forces(const ContactSet& contacts, StepInfo& info) {
  clear_wrenches();
  for (std::size_t k = 0; k < contact_dynamics_.points().size(); ++k) {
    const ContactDynamics::Point& point = contact_dynamics_.points()[k];
    const ContactLaw& law = contacts.pair(point.contact).law;
    const Vector3d& n = contacts.motion(point.contact).n;
    const Vector3d lam_pr = law.project_to_cone(integrals_.lam_bar(k), n);
    const bool both = options_.position_update == PositionUpdate::kDoubleAverage;
    add_forces(point, lam_pr, both ? law.project_to_cone(integrals_.lam_bar2(k), n) : lam_pr, info);
  }
}

void Expo::take_resolved_forces(StepInfo& info) {
  clear_wrenches();
  const std::size_t active = contact_dynamics_.points().size();
  const bool both = options_.position_update == PositionUpdate::kDoubleAverage;
  for (std::size_t k = 0; k < active + contact_dynamics_.near().size(); ++k) {
    const ContactDynamics::Point& point =
        k < active ? contact_dynamics_.points()[k] : contact_dynamics_.near()[k - active];
    add_forces(point, resolver_.lam_bar(k), both ? resolver_.lam_bar2(k) : resolver_.lam_bar(k), info);
  }
}

void Expo::add_forces(const ContactDynamics::Point& point, const Vector3d& lam, const Vector3d& lam2, StepInfo& info) {
  contact_dynamics_.add_wrench(point, lam, wrenches_.col(0));
  contact_dynamics_.add_wrench(point, lam2, wrenches_.col(1));
  info.lam_pr.row(static_cast<Index>(point.contact)) = lam;
  info.lam_pr2.row(static_cast<Index>(point.contact)) = lam2;
}

void Expo::take_resolved_contacts(State& next, StepInfo& info) const {
  const std::size_t active = contact_dynamics_.points().size();
  for (std::size_t k = 0; k < active + contact_dynamics_.near().size(); ++k) {
    const std::size_t contact =
        (k < active ? contact_dynamics_.points()[k] : contact_dynamics_.near()[k - active]).contact;
    next.contacts[contact] = resolver_.end(k);
    info.p_end.row(static_cast<Index>(contact)) = resolver_.position(k);
  }
}

}  // namespace exposim
