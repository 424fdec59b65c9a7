#include "exposim/integrators/force_derivatives.hpp"

#include "exposim/joints/dof_forces.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

Matrix3d skew(const Vector3d& a) {
  Matrix3d result;
  result << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
  return result;
}

}  // namespace

void ForceDerivatives::update(const World& world, const RobotData& data, const Instant& now, const Instant& at,
                              const Input& input) {
  const Eigen::Index nv = now.state.v.size();
  by_q_.setZero(nv, nv);
  by_v_.setZero(nv, nv);
  for (const std::size_t i : at.active) {
    if (i < world.contacts().size()) {
      add_contact(world, data, now, at, i);
    } else if (i < world.first_limit()) {
      add_bond(world, data, at, i);
    } else {
      add_limit(world, at, i);
    }
  }
  for (const ExternalWrench& wrench : input.wrenches) add_wrench(data, wrench);
  add_dof_force_derivatives(world, at.state, input, servo_errors_, by_q_, by_v_);
}

void ForceDerivatives::add_contact(const World& world, const RobotData& data, const Instant& now, const Instant& at,
                                   std::size_t i) {
  const Motion& motion = at.motions[i];
  const Vector3d lam = at.force(i);
  Memory carried = now.state.memory[i];
  const Memory& memory = at.state.memory[i];
  if (carried.surface != memory.surface || carried.guest != memory.guest) carried = Memory{};  // it has changed hands
  if (carried.active()) carry(travel(now.motions[i], motion), now.motions[i], motion, carried);
  Matrix3d dlam_dp, dlam_ddp;
  world.law(i, memory).force_derivatives(motion, carried, dlam_dp, dlam_ddp);
  const std::size_t joint = world.shape(world.point_of(i, memory)).joint;
  point_derivatives(data, joint, motion.p, motion.arm, point_);
  const bool round = !motion.arm.isZero();

  if (motion.carried) {
    add_carried(world, data, at, i, dlam_dp, dlam_ddp);
    return;
  }
  // A force fixed to the body would turn with it; the contact force does not.
  dlam_dq_.noalias() = dlam_dp * point_.dp_dq;
  if (round && carried.active()) {
    dlam_dq_.noalias() += dlam_dp * travel_by_rotation(now.motions[i], motion) * point_.J_omega;
  }
  dlam_dq_.noalias() += dlam_ddp * point_.ddp_dq;
  dlam_dq_.noalias() += skew(lam) * point_.J_omega;
  dlam_dv_.noalias() = dlam_ddp * point_.J;
  by_q_.noalias() += point_.J.transpose() * dlam_dq_;
  by_v_.noalias() += point_.J.transpose() * dlam_dv_;
  // Where a spherical foot touches moves over the foot as it rolls.
  if (round) {
    point_.dp_dq -= point_.J;
    dlam_dq_.noalias() = skew(lam) * point_.dp_dq;
    by_q_.noalias() -= point_.J_omega.transpose() * dlam_dq_;
  }
}

void ForceDerivatives::add_carried(const World& world, const RobotData& data, const Instant& at, std::size_t i,
                                   const Matrix3d& dlam_dp, const Matrix3d& dlam_ddp) {
  const Matrix3d lam = skew(at.force(i));
  const Vector3d& p = at.motions[i].p;
  point_derivatives(data, world.joint_of(at.state.memory[i].surface), p, Vector3d::Zero(), other_);
  // The force turns with the body that carries the surface.
  dlam_dq_.noalias() = dlam_dp * (point_.dp_dq - other_.dp_dq) + dlam_ddp * (point_.ddp_dq - other_.ddp_dq);
  dlam_dq_.noalias() -= lam * other_.J_omega;
  dlam_dv_.noalias() = dlam_ddp * (point_.J - other_.J);
  by_q_.noalias() += (point_.J - other_.J).transpose() * dlam_dq_;
  by_q_.noalias() += point_.J.transpose() * lam * point_.J_omega - other_.J.transpose() * lam * other_.J_omega;
  by_v_.noalias() += (point_.J - other_.J).transpose() * dlam_dv_;
}

void ForceDerivatives::add_bond(const World& world, const RobotData& data, const Instant& at, std::size_t i) {
  const World::BondStrand& strand = world.bond_strands()[i - world.contacts().size()];
  const Bond& bond = world.bonds()[strand.bond];
  const Motion& motion = at.motions[i];
  Matrix3d dlam_dp, dlam_ddp;
  world.law(i, {}).force_derivatives(motion, at.state.memory[i], dlam_dp, dlam_ddp);
  if (strand.rows == Rows::kCoordinate) {
    by_q_(bond.in_v, bond.in_v) += dlam_dp(0, 0);
    by_v_(bond.in_v, bond.in_v) += dlam_ddp(0, 0);
    return;
  }
  point_derivatives(data, bond.a, motion.p, Vector3d::Zero(), point_);
  point_derivatives(data, bond.b, motion.p, Vector3d::Zero(), other_);
  const bool angular = strand.rows == Rows::kAngular;
  const Eigen::Matrix3Xd &Ja = angular ? point_.J_omega : point_.J, &Jb = angular ? other_.J_omega : other_.J;
  dlam_dv_.noalias() = dlam_ddp * (Ja - Jb);
  dlam_dq_.noalias() = dlam_dp * (Ja - Jb);
  by_q_.noalias() += (Ja - Jb).transpose() * dlam_dq_;
  by_v_.noalias() += (Ja - Jb).transpose() * dlam_dv_;
}

void ForceDerivatives::add_limit(const World& world, const Instant& at, std::size_t i) {
  Matrix3d dlam_dp, dlam_ddp;
  const Limit& limit = world.limit(i);
  limit.law->force_derivatives(at.motions[i], at.state.memory[i], dlam_dp, dlam_ddp);
  by_q_(limit.in_v, limit.in_v) += dlam_dp(0, 0);
  by_v_(limit.in_v, limit.in_v) += dlam_ddp(0, 0);
}

void ForceDerivatives::add_wrench(const RobotData& data, const ExternalWrench& wrench) {
  const Vector3d p = world_position(data, wrench.joint, wrench.position);
  point_derivatives(data, wrench.joint, p, Vector3d::Zero(), point_);
  dlam_dq_.noalias() = skew(wrench.force) * point_.J_omega;
  by_q_.noalias() += point_.J.transpose() * dlam_dq_;
  dlam_dq_.noalias() = skew(wrench.torque) * point_.J_omega;
  by_q_.noalias() += point_.J_omega.transpose() * dlam_dq_;
}

}  // namespace exposim
