#include "exposim/robot/mass_matrix.hpp"

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/sweeps.hpp"

namespace exposim {

using Eigen::VectorXd;

void update_terms(RobotData& data, const VectorXd& q, const VectorXd& v) {
  data.tree().placed = false;
  sweep_terms(data.robot().tree(), q, v, data.tree());
}

void factor(RobotData& data) { data.factor().factor(data.tree().M); }

void factor(RobotData& data, const VectorXd& added) { data.factor().factor(data.tree().M, added); }

double own_inertia(const RobotData& data, Eigen::Index dof) { return data.tree().M[data.factor().first(dof)]; }

double felt_inertia(const RobotData& data, Eigen::Index dof) { return data.factor().felt(dof); }

void update_bias(RobotData& data, const VectorXd& q, const VectorXd& v) {
  data.tree().placed = false;
  sweep_bias(data.robot().tree(), q, v, data.tree());
}

void applied_force(const RobotData& data, const VectorXd& along_dofs, const std::vector<ExternalWrench>& wrenches,
                   VectorXd& u) {
  u = along_dofs - data.tree().h;
  for (const ExternalWrench& wrench : wrenches) {
    const Vec3 p = world_position(data, wrench.joint, wrench.position), force = wrench.force, torque = wrench.torque;
    for (const Eigen::Index i : data.robot().supports(wrench.joint)) {
      const Column& column = data.tree().columns[static_cast<std::size_t>(i)];
      u(i) += dot(column.linear, force) + dot(column.angular, torque + cross(p - column.o, force));
    }
  }
}

void solve_L_in_place(const RobotData& data, const std::vector<Eigen::Index>& dofs, std::size_t first,
                      std::size_t count, Eigen::Index size, double* rows) {
  data.factor().solve_L(dofs.data() + first, count, size, rows);
}

void solve_L_in_place(const RobotData& data, VectorXd& x) { data.factor().solve_L(x.data()); }

void solve_L_in_place(const RobotData& data, Eigen::MatrixX2d& x) {
  for (const Eigen::Index column : {0, 1}) data.factor().solve_L(x.col(column).data());
}

void solve_Lt_in_place(const RobotData& data, Eigen::MatrixX2d& x) {
  data.factor().solve_Lt(x.col(0).data(), x.col(1).data());
}

void solve_Lt_in_place(const RobotData& data, VectorXd& x) { data.factor().solve_Lt(x.data()); }

}  // namespace exposim
