#include "exposim/contact/bond_motion.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/forward_dynamics.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void update_bond(const World& world, const RobotData& data, const State& state, std::size_t strand, Motion& motion,
                 Memory& memory) {
  const World::BondStrand& found = world.bond_strands()[strand - world.contacts().size()];
  const Bond& bond = world.bonds()[found.bond];
  memory = Memory{-1, Mode::kBound, 0.0, Vector3d::Zero()};
  motion.phi = 0.0;
  motion.n = Vector3d::UnitX();
  motion.arm.setZero();
  motion.dc.setZero();
  motion.curved = false;
  if (found.rows == Rows::kCoordinate) {
    motion.p = Vector3d(state.q(bond.in_q), 0.0, 0.0);
    motion.dp = Vector3d(state.v(bond.in_v), 0.0, 0.0);
    memory.s.x() = state.q(bond.in_q) - bond.rest;
    return;
  }
  const PointMotion a = point_motion(data, bond.a, bond.position_a);
  const PointMotion b = point_motion(data, bond.b, bond.position_b);
  motion.p = a.position;
  if (found.rows == Rows::kLinear) {
    // The material point of b that is where a's point is: what b's rotation does to the gap is no stretch.
    motion.dp = a.velocity - (b.velocity + b.omega.cross(a.position - b.position));
    memory.s = a.position - b.position;
  } else {
    motion.dp = a.omega - b.omega;
    const Matrix3d turned =
        rotation(data, bond.a) * bond.rotation_a * (rotation(data, bond.b) * bond.rotation_b).transpose();
    const Eigen::AngleAxisd angle(turned);
    memory.s = angle.angle() * angle.axis();
  }
}

void add_bond_force(const World& world, std::size_t strand, const Motion& motion, const Vector3d& lam,
                    RobotData& data) {
  const World::BondStrand& found = world.bond_strands()[strand - world.contacts().size()];
  const Bond& bond = world.bonds()[found.bond];
  switch (found.rows) {
    case Rows::kCoordinate:
      add_joint_force(data, bond.in_v, lam.x());
      break;
    case Rows::kLinear:
      add_force(data, bond.a, motion.p, lam);
      add_force(data, bond.b, motion.p, -lam);
      break;
    case Rows::kAngular:
      add_torque(data, bond.a, lam);
      add_torque(data, bond.b, -lam);
      break;
  }
}

}  // namespace exposim
