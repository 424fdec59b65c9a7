#include "exposim/expo/velocity_ahead.hpp"

#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

bool VelocityAhead::predict(const RobotData& data, const StiffSystem& system, const StrandList& strands,
                            const Eigen::VectorXd& start, double h, Eigen::VectorXd& v) {
  const Eigen::Index r = system.active_size();
  v = system.w();
  if (r > 0) {
    const auto Q = [h](const StiffSystem::Row& row) -> Eigen::Matrix3d { return h * (row.B + h * row.K); };
    blocks_.begin(system, system.active_blocks());
    for (std::size_t k = 0; k < system.active(); ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      blocks_.add_spring(row, Q(row));
      blocks_.add_force(row, system.force_ahead(row, h));
    }
    blocks_.attach();
    blocks_.solve();  // the accelerations that the forces at the end of h cause
    wrench_.setZero(r);
    for (std::size_t k = 0; k < system.active(); ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      const Eigen::Vector3d lam = system.force_ahead(row, h) - Q(row) * blocks_.acceleration_of(row);
      const Strand& strand = strands.all()[k];
      if (strand.law->may_change(strand.memory.mode, strand.motion.n, lam, 0.0)) return false;
      system.add_wrench(row, lam, wrench_);
    }
    system.add_forces(system.active_blocks(), wrench_, v);
  }
  solve_Lt_in_place(data, v);
  v = start + h * v;
  return true;
}

}  // namespace exposim
