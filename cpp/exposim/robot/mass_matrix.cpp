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

void factor(RobotData& data) {
  RobotData::Pinocchio& pin = data.pinocchio();
  pin.factor.factor(pin.data.M);
  pin.factor.expand(pin.data.U, pin.inverse_root_D);
}

void factor(RobotData& data, const VectorXd& added) {
  RobotData::Pinocchio& pin = data.pinocchio();
  pin.factor.factor(pin.data.M, added);
  pin.factor.expand(pin.data.U, pin.inverse_root_D);
}

void factor_for_felt_inertia(RobotData& data) { data.pinocchio().factor.factor(data.pinocchio().data.M); }

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

// Row k of U is nonzero only at the dofs of the subtree behind k, which follow it.

void solve_L_in_place(const RobotData& data, RowMatrixXd& x, const std::vector<Eigen::Index>& rows) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  const MatrixXd& U = pin.data.U;
  const Eigen::Index columns = x.cols();
  for (std::size_t a = rows.size(); a-- > 0;) {
    const Eigen::Index k = rows[a];
    const Eigen::Index end = k + pin.data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    double* const row = x.data() + k * columns;
    for (std::size_t b = a + 1; b < rows.size() && rows[b] < end; ++b) {
      const double factor = U(k, rows[b]);
      const double* const below = x.data() + rows[b] * columns;
      for (Eigen::Index i = 0; i < columns; ++i) row[i] -= factor * below[i];
    }
  }
  for (const Eigen::Index k : rows) x.row(k) *= pin.inverse_root_D(k);
}

void solve_L_in_place(const RobotData& data, VectorXd& x) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  const MatrixXd& U = pin.data.U;
  for (Eigen::Index k = x.size() - 2; k >= 0; --k) {
    const Eigen::Index behind = pin.data.nvSubtree_fromRow[static_cast<std::size_t>(k)] - 1;
    x(k) -= U.row(k).segment(k + 1, behind).dot(x.segment(k + 1, behind));
  }
  x.array() *= pin.inverse_root_D.array();
}

void solve_Lt_in_place(const RobotData& data, Eigen::MatrixX2d& x) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  const MatrixXd& U = pin.data.U;
  x.array().colwise() *= pin.inverse_root_D.array();
  for (Eigen::Index k = 0; k + 1 < x.rows(); ++k) {
    const Eigen::Index end = k + pin.data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    const double a = x(k, 0), b = x(k, 1);
    for (Eigen::Index j = k + 1; j < end; ++j) {
      x(j, 0) -= U(k, j) * a;
      x(j, 1) -= U(k, j) * b;
    }
  }
}

void solve_Lt_in_place(const RobotData& data, VectorXd& x) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  const MatrixXd& U = pin.data.U;
  x.array() *= pin.inverse_root_D.array();
  for (Eigen::Index k = 0; k + 1 < x.size(); ++k) {
    const Eigen::Index end = k + pin.data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    for (Eigen::Index j = k + 1; j < end; ++j) x(j) -= U(k, j) * x(k);
  }
}

}  // namespace exposim
