#include "exposim/robot/jacobians.hpp"

#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::Vector3d;

void add_jacobian_transpose(const RobotData& data, std::size_t joint, const Vector3d& p, double sign,
                            const Eigen::Index* dofs, Eigen::Index size, double* rows) {
  for (const Eigen::Index i : data.robot().supports(joint)) {
    while (*dofs != i) ++dofs, rows += size;
    const double* const J = data.pinocchio().data.J.data() + 6 * i;  // of the world's origin, and rotation
    rows[0] += sign * (J[0] + J[4] * p.z() - J[5] * p.y());
    rows[1] += sign * (J[1] + J[5] * p.x() - J[3] * p.z());
    rows[2] += sign * (J[2] + J[3] * p.y() - J[4] * p.x());
    for (Eigen::Index k = 3; k < size; ++k) rows[k] += sign * J[k];
  }
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

}  // namespace exposim
