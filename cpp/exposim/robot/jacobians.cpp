#include "exposim/robot/jacobians.hpp"

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::Vector3d;

void add_point_jacobian_transpose(const RobotData& data, std::size_t joint, const Vector3d& p, double sign,
                                  Eigen::Ref<RowMatrixXd> Jt) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  for_each_supporting_dof(pin.model, joint, [&](int i) {
    const auto column = pin.data.J.col(i);  // velocity of the point at the world's origin, and rotation
    Jt.row(i) += sign * (column.head<3>() + column.tail<3>().cross(p));
  });
}

void add_body_jacobian_transpose(const RobotData& data, std::size_t joint, const Vector3d& p, double sign,
                                 Eigen::Ref<RowMatrixXd> Jt) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  add_point_jacobian_transpose(data, joint, p, sign, Jt.leftCols<3>());
  for_each_supporting_dof(pin.model, joint, [&](int i) { Jt.row(i).tail<3>() += sign * pin.data.J.col(i).tail<3>(); });
}

Vector3d point_drift(const RobotData& data, std::size_t joint, const Vector3d& p) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  const pinocchio::SE3& oMi = pin.data.oMi[joint];
  const pinocchio::Motion& v = pin.data.v[joint];
  const pinocchio::Motion& a = pin.data.a_gf[joint];  // at v̇ = 0, gravity subtracted: left by nonLinearEffects
  const Vector3d r = oMi.actInv(p);
  const Vector3d dr = v.linear() + v.angular().cross(r);
  return oMi.rotation() * (a.linear() + a.angular().cross(r) + v.angular().cross(dr)) + pin.model.gravity.linear();
}

Vector3d angular_drift(const RobotData& data, std::size_t joint) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  return pin.data.oMi[joint].rotation() * pin.data.a_gf[joint].angular();
}

void add_supporting_dofs(const RobotData& data, std::size_t joint, std::vector<Eigen::Index>& dofs) {
  for_each_supporting_dof(data.pinocchio().model, joint, [&](int i) { dofs.push_back(i); });
}

}  // namespace exposim
