#include "exposim/expo/robot_update.hpp"

#include <algorithm>

#include "exposim/robot/free_bodies.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

namespace {

/// x += Y f, y += Y g for wrenches on a block of so many coordinates.
template <Eigen::Index Size>
void add_forces(const StiffSystem& system, std::size_t block, const double* f, const double* g, double* x, double* y) {
  system.for_each_row_of_Y(block, [&](Eigen::Index dof, const double* row) {
    double by_f = 0.0, by_g = 0.0;
    for (Eigen::Index i = 0; i < Size; ++i) {
      by_f += row[i] * f[i];
      by_g += row[i] * g[i];
    }
    x[dof] += by_f;
    y[dof] += by_g;
  });
}

}  // namespace

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
  double *const x = dv_.col(0).data(), *const y = dv_.col(1).data();
  for (std::size_t b = 0; b < system.blocks().size(); ++b) {
    const Block& block = system.blocks()[b];
    const double *const f = wrenches_.col(0).data() + block.first, *const g = wrenches_.col(1).data() + block.first;
    if (block.size == 3) {
      add_forces<3>(system, b, f, g, x, y);
    } else if (block.size == 6) {
      add_forces<6>(system, b, f, g, x, y);
    } else {
      add_forces<1>(system, b, f, g, x, y);
    }
  }
  solve_Lt_in_place(data, dv_);  // M⁻¹(u + Jᵀλ) = L⁻ᵀ(w + Y Gᵀλ)
  v = state.v + dt * dv_.col(0);
  dq_ = dt * (state.v + 0.5 * dt * dv_.col(1));
  if (joints) joints->displace(dv_.col(1), dq_);
  integrate(data.robot(), state.q, dq_, q);
}

}  // namespace exposim
