#include "exposim/expo/detect.hpp"

namespace exposim {

bool may_change(const StiffSystem& system, const StrandList& strands, const ForceAverages& averages, double dt) {
  for (std::size_t k = 0; k < strands.active(); ++k) {
    const Strand& strand = strands.all()[k];
    if (strand.law->may_change(strand.memory.mode, strand.motion.n, averages.lam_bar(k), averages.deviation(k))) {
      return true;
    }
  }
  for (std::size_t i = strands.active(); i < strands.all().size(); ++i) {
    const Motion& motion = strands.all()[i].motion;
    const StiffSystem::Row& open = system.rows()[i];
    double a = motion.n.dot(open.ddp_bar);
    for (std::size_t k = 0; k < strands.active(); ++k) {
      const Eigen::RowVector3d effect = motion.n.transpose() * system.Upsilon(open, system.rows()[k]);
      a += effect.dot(averages.lam_bar(k)) - effect.norm() * averages.deviation(k);
    }
    if (!(lowest_gap(motion.phi, motion.n.dot(motion.dp), a, dt) > 0.0)) return true;
  }
  return false;
}

}  // namespace exposim
