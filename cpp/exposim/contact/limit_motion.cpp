#include "exposim/contact/limit_motion.hpp"

namespace exposim {

using Eigen::Vector3d;

void update_limit(const World& world, const State& state, std::size_t strand, Motion& motion, Memory& memory) {
  const Limit& limit = world.limit(strand);
  const double q = state.q(limit.in_q);
  motion.phi = limit.side * (q - limit.end);
  motion.n = Vector3d(limit.side, 0.0, 0.0);
  motion.p = Vector3d(q, 0.0, 0.0);
  motion.dp = Vector3d(state.v(limit.in_v), 0.0, 0.0);
  motion.arm.setZero();
  motion.dc.setZero();
  motion.curved = false;
  limit.law->commit(motion, memory);
}

}  // namespace exposim
