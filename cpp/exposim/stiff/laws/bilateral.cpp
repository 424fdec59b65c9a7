#include "exposim/stiff/laws/bilateral.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d Bilateral::force(const Motion& motion, const Memory& memory) const {
  return -stiffness(motion.n) * memory.s - damping(motion.n) * motion.dp;
}

void Bilateral::force_derivatives(const Motion& motion, const Memory&, Matrix3d& dlam_dp, Matrix3d& dlam_ddp) const {
  dlam_dp = -stiffness(motion.n);
  dlam_ddp = -damping(motion.n);
}

void Bilateral::linearise(Phase& phase) const {
  phase.K = stiffness(phase.n);
  phase.B = damping(phase.n);
  phase.lam = -phase.K * phase.delta - phase.B * phase.dp;
}

bool Bilateral::update(Phase& phase, bool) const {
  phase.lam = -phase.K * phase.delta - phase.B * phase.dp;
  return false;
}

Memory Bilateral::end(const Phase& phase) const { return {-1, Mode::kBound, 0.0, phase.delta}; }

}  // namespace exposim
