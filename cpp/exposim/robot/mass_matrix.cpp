#include "exposim/robot/mass_matrix.hpp"

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

void update_terms(RobotData& data, const VectorXd& q, const VectorXd& v) {
  RobotData::Pinocchio& pin = data.pinocchio();
  pin.placed = false;
  pinocchio::crba(pin.model, pin.data, ConstRef(q), pinocchio::Convention::WORLD);
  pinocchio::nonLinearEffects(pin.model, pin.data, ConstRef(q), ConstRef(v));
}

void factor(RobotData& data) { data.pinocchio().factor.factor(data.pinocchio().data.M); }

void factor(RobotData& data, const VectorXd& added) { data.pinocchio().factor.factor(data.pinocchio().data.M, added); }

double own_inertia(const RobotData& data, Eigen::Index dof) { return data.pinocchio().data.M(dof, dof); }

double felt_inertia(const RobotData& data, Eigen::Index dof) { return data.pinocchio().factor.felt(dof); }

void update_bias(RobotData& data, const VectorXd& q, const VectorXd& v) {
  RobotData::Pinocchio& pin = data.pinocchio();
  pin.placed = false;
  pinocchio::nonLinearEffects(pin.model, pin.data, ConstRef(q), ConstRef(v));
}

void applied_force(const RobotData& data, const VectorXd& along_dofs, const std::vector<ExternalWrench>& wrenches,
                   VectorXd& u) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  u = along_dofs - pin.data.nle;
  for (const ExternalWrench& wrench : wrenches) {
    const Vector3d p = pin.data.oMi[wrench.joint].act(wrench.position);
    const Vector3d torque_at_origin = wrench.torque + p.cross(wrench.force);
    for_each_supporting_dof(pin.model, wrench.joint, [&](int i) {
      const auto column = pin.data.J.col(i);
      u(i) += column.head<3>().dot(wrench.force) + column.tail<3>().dot(torque_at_origin);
    });
  }
}

void solve_L_in_place(const RobotData& data, const std::vector<Eigen::Index>& dofs, std::size_t first,
                      std::size_t count, Eigen::Index size, double* rows) {
  data.pinocchio().factor.solve_L(dofs.data() + first, count, size, rows);
}

void solve_L_in_place(const RobotData& data, VectorXd& x) { data.pinocchio().factor.solve_L(x.data()); }

void solve_Lt_in_place(const RobotData& data, Eigen::MatrixX2d& x) {
  for (Eigen::Index column = 0; column < 2; ++column) data.pinocchio().factor.solve_Lt(x.col(column).data());
}

void solve_Lt_in_place(const RobotData& data, VectorXd& x) { data.pinocchio().factor.solve_Lt(x.data()); }

}  // namespace exposim
