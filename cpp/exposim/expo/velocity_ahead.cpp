#include "exposim/expo/velocity_ahead.hpp"

#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

void VelocityAhead::predict(const RobotData& data, const StiffSystem& system, const StrandList& strands,
                            const Eigen::VectorXd& start, double h, Eigen::VectorXd& v) {
  const Eigen::Index r = system.active_size();
  v = system.w();
  if (r > 0) {
    const auto Q = [h](const StiffSystem::Row& row) -> Eigen::Matrix3d { return h * (row.B + h * row.K); };
    system.clear_stiffness(system.active_blocks(), stiffness_);
    wrench_.setZero(r);
    for (std::size_t k = 0; k < system.active(); ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      system.add_stiffness(row, Q(row), stiffness_);
      system.add_wrench(row, system.force_ahead(row, h), wrench_);
    }
    // (I + Υ GᵀQG) α = Υ Gᵀλ: the accelerations that the forces at the end of h cause.
    factors_.load(system.Upsilon_block(), r);
    factors_.factor(stiffness_);
    alpha_.resize(r);
    factors_.solve_product(wrench_.data(), alpha_.data());
    wrench_.setZero();
    for (std::size_t k = 0; k < system.active(); ++k) {
      const StiffSystem::Row& row = system.rows()[k];
      const Eigen::Vector3d lam = system.force_ahead(row, h) - Q(row) * system.motion_of(row, alpha_);
      const Strand& strand = strands.all()[k];
      system.add_wrench(row, strand.law->project(lam, strand.motion.n), wrench_);
    }
    system.add_forces(system.active_blocks(), wrench_, v);
  }
  solve_Lt_in_place(data, v);
  v = start + h * v;
}

}  // namespace exposim
