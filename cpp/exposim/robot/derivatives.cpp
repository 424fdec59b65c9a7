#include "exposim/robot/derivatives.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/pinocchio_data.hpp"

namespace exposim {

using Eigen::Vector3d;
using Eigen::VectorXd;

void update_acceleration_derivatives(RobotData& data, const VectorXd& q, const VectorXd& v) {
  RobotData::Pinocchio& pin = data.pinocchio();
  update_kinematics(data, q, v);
  pinocchio::computeABADerivatives(data.robot().pinocchio().model, pin.data, ConstRef(q), ConstRef(v),
                                   ConstRef(pin.tau), pin.forces);
  pin.M_inverse = pin.data.Minv.selfadjointView<Eigen::Upper>();  // only this triangle is filled
}

const RowMatrixXd& ddq_dq(const RobotData& data) { return data.pinocchio().data.ddq_dq; }
const RowMatrixXd& ddq_dv(const RobotData& data) { return data.pinocchio().data.ddq_dv; }
const Eigen::MatrixXd& M_inverse(const RobotData& data) { return data.pinocchio().M_inverse; }

void point_derivatives(const RobotData& data, std::size_t joint, const Vector3d& p, const Vector3d& arm,
                       PointDerivatives& out) {
  const RobotData::Pinocchio& pin = data.pinocchio();
  for (Eigen::Matrix3Xd* each : {&out.dp_dq, &out.ddp_dq, &out.J, &out.J_omega}) each->setZero(3, data.robot().nv());
  const pinocchio::Motion& v = pin.data.ov[joint];  // at the world's origin, like the columns of J and dVdq
  for_each_supporting_dof(data.robot().pinocchio().model, joint, [&](int i) {
    const pinocchio::Motion J(pin.data.J.col(i));
    const pinocchio::Motion dv = pinocchio::Motion(pin.data.dVdq.col(i)) - v.cross(J);
    out.J_omega.col(i) = J.angular();
    out.J.col(i) = J.linear() + J.angular().cross(p);
    out.dp_dq.col(i) = J.linear() + J.angular().cross(p - arm);
    out.ddp_dq.col(i) = dv.linear() + dv.angular().cross(p) + v.angular().cross(out.dp_dq.col(i));
  });
}

}  // namespace exposim
