#include "exposim/expo/robot_update.hpp"

#include <algorithm>

#include "exposim/robot/free_bodies.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

void RobotUpdate::clear(const StiffSystem& system) {
  wrenches_.setZero(system.blocks().empty() ? 0 : system.Upsilon_block().rows(), 2);
  driven_ = false;
  largest_ = 0.0;
}

void RobotUpdate::add(const FollowedDrives& drives, Eigen::Index size, double dt) {
  driven_ = true;
  along_dofs_.setZero(size, 2);
  drives.add_forces(dt, along_dofs_);
}

void RobotUpdate::add(const StiffSystem& system, const StiffSystem::Row& row, const Eigen::Vector3d& lam,
                      const Eigen::Vector3d& lam2) {
  system.add_wrench(row, lam, wrenches_.col(0));
  system.add_wrench(row, lam2, wrenches_.col(1));
  largest_ = std::max(largest_, lam.norm());
}

void RobotUpdate::apply(const RobotData& data, const StiffSystem& system, const State& state, double dt,
                        Eigen::VectorXd& q, Eigen::VectorXd& v, const JointTerms* joints) {
  apply_in_coordinates(data, system, state, dt, q, v, joints);
  move_free_bodies(data, state.q, state.v, dv_, dt, q, v);
}

void RobotUpdate::apply_in_coordinates(const RobotData& data, const StiffSystem& system, const State& state, double dt,
                                       Eigen::VectorXd& q, Eigen::VectorXd& v, const JointTerms* joints) {
  dv_.resize(state.v.size(), 2);
  if (driven_) {
    dv_ = along_dofs_;
    solve_L_in_place(data, dv_);
    dv_.colwise() += system.w();
  } else {
    dv_.colwise() = system.w();
  }
  for (const Eigen::Index column : {0, 1}) {
    system.add_forces(system.blocks().size(), wrenches_.col(column), dv_.col(column));
  }
  solve_Lt_in_place(data, dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Y Gᵀλ)
  v = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  if (joints) joints->displace(dv_.col(1), dq_);
  integrate(data.robot(), state.q, dq_, q);
}

}  // namespace exposim
