#include "exposim/robot/dynamics.hpp"

#include <algorithm>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <utility>

#include "exposim/robot/pinocchio_model.hpp"

namespace exposim {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

// Pinocchio's library holds instantiations for this argument type only; any other is compiled here, slowly.
using ConstRef = Eigen::Ref<const VectorXd>;

/// Calls f(i) for every degree of freedom that moves the body of `joint`.
template <typename Function>
void for_each_supporting_dof(const pinocchio::Model& model, std::size_t joint, Function&& f) {
  for (const std::size_t ancestor : model.supports[joint]) {
    const int begin = model.idx_vs[ancestor];
    for (int i = begin; i < begin + model.nvs[ancestor]; ++i) f(i);
  }
}

}  // namespace

struct Dynamics::Pinocchio {
  explicit Pinocchio(const pinocchio::Model& m)
      : model(m), data(m), forces(static_cast<std::size_t>(m.njoints), pinocchio::Force::Zero()) {}

  const pinocchio::Model& model;
  pinocchio::Data data;
  std::vector<pinocchio::Force> forces;  // on every body, in its joint's frame
};

Dynamics::Dynamics(std::shared_ptr<const Robot> robot)
    : robot_(std::move(robot)),
      pin_(std::make_unique<Pinocchio>(robot_->pinocchio().model)),
      inverse_root_D_(robot_->nv()),
      tau_(robot_->nv()) {}

Dynamics::Dynamics(Dynamics&&) noexcept = default;
Dynamics::~Dynamics() = default;

void Dynamics::update_kinematics(const VectorXd& q, const VectorXd& v) {
  pinocchio::forwardKinematics(pin_->model, pin_->data, ConstRef(q), ConstRef(v));
}

PointMotion Dynamics::point_motion(std::size_t point) const {
  const ContactPoint& contact_point = robot_->points()[point];
  const pinocchio::SE3& oMi = pin_->data.oMi[contact_point.joint];
  const pinocchio::Motion& v = pin_->data.v[contact_point.joint];
  return {oMi.act(contact_point.position), oMi.rotation() * (v.linear() + v.angular().cross(contact_point.position)),
          oMi.rotation() * v.angular()};
}

void Dynamics::update_terms(const VectorXd& q, const VectorXd& v) {
  pinocchio::crba(pin_->model, pin_->data, ConstRef(q), pinocchio::Convention::WORLD);
  pinocchio::nonLinearEffects(pin_->model, pin_->data, ConstRef(q), ConstRef(v));
  pinocchio::cholesky::decompose(pin_->model, pin_->data);
  inverse_root_D_ = pin_->data.D.cwiseSqrt().cwiseInverse();
}

void Dynamics::update_bias(const VectorXd& q, const VectorXd& v) {
  pinocchio::nonLinearEffects(pin_->model, pin_->data, ConstRef(q), ConstRef(v));
}

void Dynamics::point_jacobian_transpose(std::size_t joint, const Vector3d& p, Eigen::Ref<RowMatrixXd> Jt) const {
  Jt.setZero();
  for_each_supporting_dof(pin_->model, joint, [&](int i) {
    const auto column = pin_->data.J.col(i);  // velocity of the point at the world's origin, and rotation
    Jt.row(i) = column.head<3>() + column.tail<3>().cross(p);
  });
}

void Dynamics::body_jacobian_transpose(std::size_t joint, const Vector3d& p, Eigen::Ref<RowMatrixXd> Jt) const {
  point_jacobian_transpose(joint, p, Jt.leftCols<3>());
  Jt.rightCols<3>().setZero();
  for_each_supporting_dof(pin_->model, joint, [&](int i) { Jt.row(i).tail<3>() = pin_->data.J.col(i).tail<3>(); });
}

Vector3d Dynamics::point_drift(std::size_t joint, const Vector3d& p) const {
  const pinocchio::SE3& oMi = pin_->data.oMi[joint];
  const pinocchio::Motion& v = pin_->data.v[joint];
  const pinocchio::Motion& a = pin_->data.a_gf[joint];  // at v̇ = 0, gravity subtracted: left by nonLinearEffects
  const Vector3d r = oMi.actInv(p);
  const Vector3d dr = v.linear() + v.angular().cross(r);
  return oMi.rotation() * (a.linear() + a.angular().cross(r) + v.angular().cross(dr)) + pin_->model.gravity.linear();
}

void Dynamics::applied_force(const VectorXd& v, const Input& input, VectorXd& u) const {
  u = input.tau - pin_->model.damping.cwiseProduct(v) - pin_->data.nle;
  for (const ExternalWrench& wrench : input.wrenches) {
    const Vector3d p = pin_->data.oMi[wrench.joint].act(wrench.position);
    const Vector3d torque_at_origin = wrench.torque + p.cross(wrench.force);
    for_each_supporting_dof(pin_->model, wrench.joint, [&](int i) {
      const auto column = pin_->data.J.col(i);
      u(i) += column.head<3>().dot(wrench.force) + column.tail<3>().dot(torque_at_origin);
    });
  }
}

void Dynamics::supporting_dofs(const std::vector<std::size_t>& joints, std::vector<Eigen::Index>& dofs) const {
  dofs.clear();
  for (const std::size_t joint : joints) {
    for_each_supporting_dof(pin_->model, joint, [&](int i) { dofs.push_back(i); });
  }
  std::sort(dofs.begin(), dofs.end());
  dofs.erase(std::unique(dofs.begin(), dofs.end()), dofs.end());
}

// Row k of U is nonzero only at the dofs of the subtree behind k, which follow it.

void Dynamics::solve_L_in_place(RowMatrixXd& x, const std::vector<Eigen::Index>& rows) const {
  const MatrixXd& U = pin_->data.U;
  const Eigen::Index columns = x.cols();
  for (std::size_t a = rows.size(); a-- > 0;) {
    const Eigen::Index k = rows[a];
    const Eigen::Index end = k + pin_->data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    double* const row = x.data() + k * columns;
    for (std::size_t b = a + 1; b < rows.size() && rows[b] < end; ++b) {
      const double factor = U(k, rows[b]);
      const double* const below = x.data() + rows[b] * columns;
      for (Eigen::Index i = 0; i < columns; ++i) row[i] -= factor * below[i];
    }
  }
  for (const Eigen::Index k : rows) x.row(k) *= inverse_root_D_(k);
}

void Dynamics::solve_L_in_place(VectorXd& x) const {
  const MatrixXd& U = pin_->data.U;
  for (Eigen::Index k = x.size() - 2; k >= 0; --k) {
    const Eigen::Index behind = pin_->data.nvSubtree_fromRow[static_cast<std::size_t>(k)] - 1;
    x(k) -= U.row(k).segment(k + 1, behind).dot(x.segment(k + 1, behind));
  }
  x.array() *= inverse_root_D_.array();
}

void Dynamics::solve_Lt_in_place(Eigen::MatrixX2d& x) const {
  const MatrixXd& U = pin_->data.U;
  x.array().colwise() *= inverse_root_D_.array();
  for (Eigen::Index k = 0; k + 1 < x.rows(); ++k) {
    const Eigen::Index end = k + pin_->data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    const double a = x(k, 0), b = x(k, 1);
    for (Eigen::Index j = k + 1; j < end; ++j) {
      x(j, 0) -= U(k, j) * a;
      x(j, 1) -= U(k, j) * b;
    }
  }
}

void Dynamics::solve_Lt_in_place(VectorXd& x) const {
  const MatrixXd& U = pin_->data.U;
  x.array() *= inverse_root_D_.array();
  for (Eigen::Index k = 0; k + 1 < x.size(); ++k) {
    const Eigen::Index end = k + pin_->data.nvSubtree_fromRow[static_cast<std::size_t>(k)];
    for (Eigen::Index j = k + 1; j < end; ++j) x(j) -= U(k, j) * x(k);
  }
}

void Dynamics::clear_forces() {
  for (pinocchio::Force& force : pin_->forces) force.setZero();
}

void Dynamics::add_force(std::size_t joint, const Vector3d& p, const Vector3d& force) {
  const pinocchio::SE3& oMi = pin_->data.oMi[joint];
  const Vector3d local_force = oMi.rotation().transpose() * force;
  pin_->forces[joint].linear() += local_force;
  pin_->forces[joint].angular() += oMi.actInv(p).cross(local_force);
}

const VectorXd& Dynamics::acceleration(const VectorXd& q, const VectorXd& v, const Input& input) {
  for (const ExternalWrench& wrench : input.wrenches) {
    const pinocchio::SE3& oMi = pin_->data.oMi[wrench.joint];
    add_force(wrench.joint, oMi.act(wrench.position), wrench.force);
    pin_->forces[wrench.joint].angular() += oMi.rotation().transpose() * wrench.torque;
  }
  tau_ = input.tau - pin_->model.damping.cwiseProduct(v);
  return pinocchio::aba(pin_->model, pin_->data, ConstRef(q), ConstRef(v), ConstRef(tau_), pin_->forces);
}

void Dynamics::update_acceleration_derivatives(const VectorXd& q, const VectorXd& v, const Input& input) {
  tau_ = input.tau - pin_->model.damping.cwiseProduct(v);
  pinocchio::computeABADerivatives(pin_->model, pin_->data, ConstRef(q), ConstRef(v), ConstRef(tau_), pin_->forces);
  M_inverse_ = pin_->data.Minv.selfadjointView<Eigen::Upper>();  // only this triangle is filled
}

const RowMatrixXd& Dynamics::ddq_dq() const { return pin_->data.ddq_dq; }
const RowMatrixXd& Dynamics::ddq_dv() const { return pin_->data.ddq_dv; }
const VectorXd& Dynamics::joint_damping() const { return pin_->model.damping; }

void Dynamics::point_derivatives(std::size_t joint, const Vector3d& p, const Vector3d& arm,
                                 PointDerivatives& out) const {
  for (Eigen::Matrix3Xd* each : {&out.dp_dq, &out.ddp_dq, &out.J, &out.J_omega}) each->setZero(3, robot_->nv());
  const pinocchio::Motion& v = pin_->data.ov[joint];  // at the world's origin, like the columns of J and dVdq
  for_each_supporting_dof(pin_->model, joint, [&](int i) {
    const pinocchio::Motion J(pin_->data.J.col(i));
    const pinocchio::Motion dv = pinocchio::Motion(pin_->data.dVdq.col(i)) - v.cross(J);
    out.J_omega.col(i) = J.angular();
    out.J.col(i) = J.linear() + J.angular().cross(p);
    out.dp_dq.col(i) = J.linear() + J.angular().cross(p - arm);
    out.ddp_dq.col(i) = dv.linear() + dv.angular().cross(p) + v.angular().cross(out.dp_dq.col(i));
  });
}

Vector3d Dynamics::world_position(std::size_t joint, const Vector3d& position) const {
  return pin_->data.oMi[joint].act(position);
}

void Dynamics::integrate_derivative(const VectorXd& q, const VectorXd& dq, MatrixXd& out) const {
  out.setZero(robot_->nv(), robot_->nv());
  pinocchio::dIntegrate(pin_->model, q, dq, out, pinocchio::ARG1);
}

void Dynamics::integrate(const VectorXd& q, const VectorXd& dq, VectorXd& q_next) const {
  pinocchio::integrate(pin_->model, q, dq, q_next);
}

}  // namespace exposim
