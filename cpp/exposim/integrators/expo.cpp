#include "exposim/integrators/expo.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

void Expo::advance(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input, double dt,
                   VectorXd& q_next, VectorXd& v_next, StepInfo& info) {
  resize(state.v.size(), static_cast<Index>(contacts.active().size()));
  dynamics.update_terms(state.q, state.v);
  dynamics.applied_force(state.v, input, u_);
  w_ = u_;
  dynamics.solve_L_in_place(w_);

  info.kernel = {};
  info.lam_pr.setZero();
  info.lam_pr2.setZero();
  dv_.colwise() = w_;
  if (!contacts.active().empty()) {
    prepare_contact_dynamics(dynamics, contacts, state);
    kernel_.compute(A_, b_, x0_, dt);
    info.kernel = kernel_.info();
    average_forces(contacts, dt, info);
    dv_.noalias() += Y_ * lam_;
  }
  dynamics.solve_Lt_in_place(dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Yλ)

  v_next = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  dynamics.integrate(state.q, dq_, q_next);
}

void Expo::resize(Index nv, Index contact_count) {
  const Index m = 3 * contact_count;
  dv_.resize(nv, 2);
  Y_.resize(nv, m);
  ddp_bar_.resize(m);
  Upsilon_.resize(m, m);
  lam_.resize(m, 2);
  if (A_.rows() == 2 * m) return;
  A_.setZero(2 * m, 2 * m);
  A_.topRightCorner(m, m).setIdentity();
  b_.setZero(2 * m);
  x0_.resize(2 * m);
}

void Expo::prepare_contact_dynamics(const Dynamics& dynamics, const ContactSet& contacts, const State& state) {
  const Index m = ddp_bar_.size();
  Index row = 0;
  for (const std::size_t i : contacts.active()) {
    const ContactMotion& motion = contacts.motion(i);
    const std::size_t point = contacts.pair(i).point;
    dynamics.point_jacobian_transpose(point, motion.p, Y_.middleCols<3>(row));
    ddp_bar_.segment<3>(row) = dynamics.point_drift(point, motion.p);
    x0_.segment<3>(row) = motion.p - state.contacts[i].p0;
    x0_.segment<3>(m + row) = motion.dp - state.contacts[i].dp0;
    row += 3;
  }
  dynamics.solve_L_in_place(Y_);
  Upsilon_.noalias() = Y_.transpose() * Y_;
  ddp_bar_.noalias() += Y_.transpose() * w_;
  b_.tail(m) = ddp_bar_;

  row = 0;
  for (const std::size_t i : contacts.active()) {
    const ContactLaw& law = contacts.pair(i).law;
    const Vector3d& n = contacts.motion(i).n;
    A_.block(m, row, m, 3).noalias() = -Upsilon_.middleCols<3>(row) * law.stiffness(n);
    A_.block(m, m + row, m, 3).noalias() = -Upsilon_.middleCols<3>(row) * law.damping(n);
    row += 3;
  }
}

void Expo::average_forces(const ContactSet& contacts, double dt, StepInfo& info) {
  const Index m = ddp_bar_.size();
  const auto x_int = kernel_.x_int(), x_int2 = kernel_.x_int2();
  Index row = 0;
  for (const std::size_t i : contacts.active()) {
    const ContactLaw& law = contacts.pair(i).law;
    const Vector3d& n = contacts.motion(i).n;
    const Matrix3d K = law.stiffness(n), B = law.damping(n);
    const Vector3d lam_bar = -(K * x_int.segment<3>(row) + B * x_int.segment<3>(m + row)) / dt;
    const Vector3d lam_bar2 = -(K * x_int2.segment<3>(row) + B * x_int2.segment<3>(m + row)) * (2.0 / (dt * dt));

    lam_.col(0).segment<3>(row) = law.project_to_cone(lam_bar, n);
    lam_.col(1).segment<3>(row) = position_update_ == PositionUpdate::kDoubleAverage
                                      ? law.project_to_cone(lam_bar2, n)
                                      : Vector3d(lam_.col(0).segment<3>(row));
    info.lam_pr.row(static_cast<Index>(i)) = lam_.col(0).segment<3>(row);
    info.lam_pr2.row(static_cast<Index>(i)) = lam_.col(1).segment<3>(row);
    row += 3;
  }
}

}  // namespace exposim
