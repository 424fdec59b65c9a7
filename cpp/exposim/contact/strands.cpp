#include "exposim/contact/strands.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "exposim/contact/evaluation.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

double lowest_gap(double phi, double dphi, double a, double dt) {
  const double at_end = phi + dt * (dphi + 0.5 * dt * a);
  if (dphi < 0.0 && a > 0.0 && -dphi < a * dt) return phi - 0.5 * dphi * dphi / a;
  return std::min(phi, at_end);
}

void StrandList::gather(const World& world, RobotData& data, const Instant& instant, double dt,
                        double max_acceleration) {
  strands_.clear();
  for (const std::size_t i : instant.active) add(world, instant, i);
  active_ = strands_.size();
  if (max_acceleration < 0.0) return;

  const auto may_close = [&](const Motion& motion) {
    return lowest_gap(motion.phi, motion.n.dot(motion.dp), -max_acceleration, dt) <= 0.0;
  };
  const State& state = instant.state;
  for (std::size_t i = world.first_limit(); i < world.strands(); ++i) {
    if (!state.memory[i].active() && may_close(instant.motions[i])) add(world, instant, i);
  }
  if (!world.has_free_slots()) {
    for (std::size_t i = 0; i < world.contacts().size(); ++i) {
      if (state.memory[i].active() || !may_close(instant.motions[i])) continue;
      add_open(world, i, world.contacts()[i].point, state.memory[i].surface, instant.motions[i]);
    }
    return;
  }
  update_kinematics(data, state.q, state.v);
  for (std::size_t point = 0; point < world.points().size(); ++point) {
    if (world.points()[point].bilateral) continue;
    const ContactPoint& shape = world.robot().points()[point];
    const PointMotion centre = point_motion(data, shape.joint, shape.position);
    const double reach = shape.radius + dt * (centre.velocity.norm() + 0.5 * dt * max_acceleration);
    for (int k = 0; k < static_cast<int>(world.surfaces().size()); ++k) {
      if (world.surfaces()[static_cast<std::size_t>(k)].surface->distance(centre.position) > reach) continue;
      if (has_slot(world, state, point, k)) continue;
      const Motion motion = contact_motion(world, data, point, k);
      if (may_close(motion)) add_open(world, Strand::kNone, point, k, motion);
    }
  }
}

void StrandList::turn_ahead(const World& world, double h) {
  for (Strand& strand : strands_) {
    Motion& motion = strand.motion;
    if (!motion.curved) continue;
    const Surface& surface = *world.surfaces()[static_cast<std::size_t>(strand.memory.surface)].surface;
    const Eigen::Vector3d centre = motion.p - motion.arm, n = surface.query(centre + h * motion.dc).n;
    const auto turn = Eigen::Quaterniond::FromTwoVectors(motion.n, n);
    for (Eigen::Vector3d* const each : {&motion.dp, &motion.arm, &strand.memory.s}) *each = turn * *each;
    motion.n = n;
    motion.p = centre + motion.arm;
  }
}

void StrandList::add(const World& world, const Instant& instant, std::size_t index) {
  const Memory& memory = instant.state.memory[index];
  Strand strand;
  strand.index = index;
  strand.law = &world.law(index, memory.surface);
  strand.motion = instant.motions[index];
  strand.memory = memory;
  if (index < world.contacts().size()) {
    const ContactPoint& shape = world.robot().points()[world.contacts()[index].point];
    strand.point = world.contacts()[index].point;
    strand.rows = Rows::kLinear;
    strand.a = shape.joint;
    strand.b = 0;
    strand.position = shape.position;
  } else if (index >= world.first_limit()) {
    const Limit& limit = world.limit(index);
    strand.point = Strand::kNone;
    strand.rows = Rows::kCoordinate;
    strand.a = world.robot().joint_of(limit.in_v);
    strand.b = static_cast<std::size_t>(limit.in_v);
    strand.position.setZero();
  } else {
    const World::BondStrand& found = world.bond_strands()[index - world.contacts().size()];
    const Bond& bond = world.bonds()[found.bond];
    strand.point = Strand::kNone;
    strand.rows = found.rows;
    strand.a = bond.a;
    strand.b = found.rows == Rows::kCoordinate ? static_cast<std::size_t>(bond.in_v) : bond.b;
    strand.position = bond.position_a;
  }
  strands_.push_back(strand);
}

void StrandList::add_coordinate(const World& world, Eigen::Index dof, double v, const Law& law) {
  Strand strand;
  strand.index = strand.point = Strand::kNone;
  strand.rows = Rows::kCoordinate;
  strand.a = world.robot().joint_of(dof);
  strand.b = static_cast<std::size_t>(dof);
  strand.position.setZero();
  strand.law = &law;
  strand.motion = Motion{};
  strand.motion.phi = 0.0;
  strand.motion.n = Eigen::Vector3d::UnitX();
  strand.motion.dp = Eigen::Vector3d(v, 0.0, 0.0);
  for (Eigen::Vector3d* const each : {&strand.motion.p, &strand.motion.arm, &strand.motion.dc}) each->setZero();
  strand.memory = Memory{-1, Mode::kBound, 0.0, Eigen::Vector3d::Zero()};
  strands_.push_back(strand);
}

void StrandList::add_open(const World& world, std::size_t index, std::size_t point, int surface, const Motion& motion) {
  const ContactPoint& shape = world.robot().points()[point];
  Memory memory;
  memory.surface = surface;
  strands_.push_back({index, point, Rows::kLinear, shape.joint, 0, shape.position, &world.contact_law(point, surface),
                      motion, memory});
}

}  // namespace exposim
