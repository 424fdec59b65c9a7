#include "exposim/contact/contact_dynamics.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

void ContactDynamics::update(Dynamics& dynamics, const ContactSet& contacts, const State& state, const Input& input) {
  resize(state.v.size(), static_cast<Index>(contacts.active().size()));
  dynamics.update_terms(state.q, state.v);
  dynamics.applied_force(state.v, input, w_);
  dynamics.solve_L_in_place(w_);

  const Index m = ddp_bar_.size();
  if (m == 0) return;
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

void ContactDynamics::resize(Index nv, Index contact_count) {
  const Index m = 3 * contact_count;
  Y_.resize(nv, m);
  ddp_bar_.resize(m);
  Upsilon_.resize(m, m);
  x0_.resize(2 * m);
  if (A_.rows() == 2 * m) return;
  A_.setZero(2 * m, 2 * m);
  A_.topRightCorner(m, m).setIdentity();
  b_.setZero(2 * m);
}

}  // namespace exposim
