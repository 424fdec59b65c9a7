#include "exposim/contact/limit_motion.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

/// What does not change as the joint moves.
void face(double side, Motion& motion) {
  motion.n = Vector3d(side, 0.0, 0.0);
  for (Vector3d* const each : {&motion.p, &motion.dp, &motion.arm, &motion.dc}) each->setZero();
  motion.curved = false;
}

}  // namespace

void update_limit(const World& world, const State& state, std::size_t strand, Motion& motion, Memory& memory) {
  const Limit& limit = world.limit(strand);
  const double q = state.q(limit.in_q);
  if (motion.n.x() != limit.side) face(limit.side, motion);
  motion.phi = limit.side * (q - limit.end);
  motion.p.x() = q;
  motion.dp.x() = state.v(limit.in_v);
  if (motion.phi > 0.0 && !memory.active()) return;  // as nearly all are, nearly always
  limit.law->commit(motion, memory);
}

}  // namespace exposim
