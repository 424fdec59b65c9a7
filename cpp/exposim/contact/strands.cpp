#include "exposim/contact/strands.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "exposim/contact/evaluation.hpp"
#include "exposim/contact/guests.hpp"
#include "exposim/contact/nearby.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Matrix3d;
using Eigen::Vector3d;

double lowest_gap(double phi, double dphi, double a, double dt) {
  const double at_end = phi + dt * (dphi + 0.5 * dt * a);
  if (dphi < 0.0 && a > 0.0 && -dphi < a * dt) return phi - 0.5 * dphi * dphi / a;
  return std::min(phi, at_end);
}

namespace {

/// To where the body that carries the surface will have turned after h.
void turn_with_carrier(Strand& strand, double h) {
  Motion& motion = strand.motion;
  const double angle = h * motion.spin.norm();
  if (angle == 0.0) return;
  const Vector3d centre = motion.p - motion.arm;
  const Matrix3d turn = Eigen::AngleAxisd(angle, motion.spin.normalized()).toRotationMatrix();
  for (Vector3d* const each : {&motion.n, &motion.dp, &motion.dc, &motion.arm, &strand.memory.s}) *each = turn * *each;
  motion.curvature = turn * motion.curvature * turn.transpose();
  if (motion.slides) motion.swing = turn * motion.swing;
  motion.carrier = turn * motion.carrier;
  motion.p = centre + motion.arm;
}

}  // namespace

void StrandList::gather(const World& world, RobotData& data, const Instant& instant, double dt,
                        double max_acceleration) {
  strands_.clear();
  for (const std::size_t i : instant.active) add(world, instant, i);
  active_ = strands_.size();
  turned_ahead_ = 0.0;
  if (max_acceleration < 0.0) return;

  const auto may_close = [&](const Motion& motion) {
    return lowest_gap(motion.phi, motion.n.dot(motion.dp), -max_acceleration, dt) <= 0.0;
  };
  const State& state = instant.state;
  for (std::size_t i = world.first_limit(), end = world.strands(); i < end; ++i) {
    if (!state.memory[i].active() && may_close(instant.motions[i])) add(world, instant, i);
  }
  if (!world.edges().empty()) {
    update_kinematics(data, state.q, state.v);
    for (const int k : world.carried()) {
      const double reach = dt * (fastest_point(world, data, k) + 0.5 * dt * max_acceleration);
      for_each_guest(world, data, k, reach, [&](std::size_t point, const Motion& motion) {
        if (may_close(motion) && !has_slot(world, state, point, k)) {
          add_open(world, Strand::kNone, point, k, motion);
        }
      });
    }
  }
  if (!world.has_free_slots()) {
    for (std::size_t i = 0; i < world.contacts().size(); ++i) {
      if (world.is_guest(i) || state.memory[i].active() || !may_close(instant.motions[i])) continue;
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
    for_each_near(world, data, point, reach, dt, [&](int k) {
      if (has_slot(world, state, point, k)) return;
      const Motion motion = contact_motion(world, data, point, k);
      if (may_close(motion)) add_open(world, Strand::kNone, point, k, motion);
    });
  }
}

double StrandList::turn_ahead(const World& world, double h) {
  turned_ahead_ = h;
  double least = 1.0;  // of the cosines
  for (Strand& strand : strands_) {
    Motion& motion = strand.motion;
    if (motion.carried) turn_with_carrier(strand, h);
    if (!motion.curved) continue;
    const Surface& surface = world.surface(strand.memory.surface);
    const Vector3d centre = motion.p - motion.arm;
    Vector3d n;
    if (motion.slides) {
      strand.position += h * motion.sliding;
      n = (motion.n + h * normal_rate(motion)).normalized();
    } else if (motion.carried) {
      n = motion.carrier * surface.query(motion.in_carrier + h * (motion.carrier.transpose() * motion.dc)).n;
    } else {
      n = surface.query(centre + h * motion.dc).n;
    }
    least = std::min(least, motion.n.dot(n));
    const auto turn = Eigen::Quaterniond::FromTwoVectors(motion.n, n);
    for (Vector3d* const each : {&motion.dp, &motion.arm, &strand.memory.s}) *each = turn * *each;
    motion.n = n;
    motion.p = centre + motion.arm;
  }
  return least < 1.0 ? std::acos(std::max(least, -1.0)) : 0.0;
}

void StrandList::add(const World& world, const Instant& instant, std::size_t index) {
  const Memory& memory = instant.state.memory[index];
  Strand& strand = strands_.emplace_back();
  strand.index = index;
  strand.law = &world.law(index, memory);
  strand.motion = instant.motions[index];
  strand.memory = memory;
  if (index < world.contacts().size()) {
    strand.point = world.point_of(index, memory);
    const ContactPoint shape = world.shape(strand.point);
    strand.rows = Rows::kLinear;
    strand.a = shape.joint;
    strand.b = world.joint_of(memory.surface);
    strand.position = strand.motion.slides ? strand.motion.place : shape.position;
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
}

void StrandList::add_coordinate(const World& world, Eigen::Index dof, double v, const Law& law) {
  Strand& strand = strands_.emplace_back();
  strand.index = strand.point = Strand::kNone;
  strand.rows = Rows::kCoordinate;
  strand.a = world.robot().joint_of(dof);
  strand.b = static_cast<std::size_t>(dof);
  strand.position.setZero();
  strand.law = &law;
  strand.motion.phi = 0.0;
  strand.motion.n = Vector3d::UnitX();
  strand.motion.dp = Vector3d(v, 0.0, 0.0);
  for (Vector3d* const each : {&strand.motion.p, &strand.motion.arm, &strand.motion.dc}) each->setZero();
  strand.memory = Memory{-1, Mode::kBound, 0.0, Vector3d::Zero()};
}

void StrandList::add_open(const World& world, std::size_t index, std::size_t point, int surface, const Motion& motion) {
  const ContactPoint shape = world.shape(point);
  Memory memory;
  memory.surface = surface;
  if (world.is_on_edge(point)) memory.guest = static_cast<int>(point - world.guest_point(0));
  const Vector3d& position = motion.slides ? motion.place : shape.position;
  strands_.push_back({index, point, Rows::kLinear, shape.joint, world.joint_of(surface), position,
                      &world.contact_law(point, surface), motion, memory});
}

}  // namespace exposim
