#include "exposim/contact/evaluation.hpp"

#include <Eigen/Geometry>
#include <limits>

#include "exposim/contact/bond_motion.hpp"
#include "exposim/contact/limit_motion.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/robot/forward_dynamics.hpp"
#include "exposim/robot/kinematics.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

void update_motions(const World& world, RobotData& data, Instant& instant) {
  State& state = instant.state;
  update_kinematics(data, state.q, state.v);
  instant.turn_rate = fastest_turn(data);
  instant.motions.resize(world.strands());
  state.memory.resize(world.strands());
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    instant.motions[i] = contact_motion(world, data, world.contacts()[i].point, state.memory[i].surface);
  }
  for (std::size_t i = world.contacts().size(); i < world.first_limit(); ++i) {
    update_bond(world, data, state, i, instant.motions[i], state.memory[i]);
  }
  for (std::size_t i = world.first_limit(); i < world.strands(); ++i) {
    update_limit(world, state, i, instant.motions[i], state.memory[i]);
  }
}

void update_forces(const World& world, Instant& instant) {
  instant.active.clear();
  instant.lam.resize(3 * static_cast<Eigen::Index>(world.strands()));
  for (std::size_t i = 0; i < world.strands(); ++i) {
    const Memory& memory = instant.state.memory[i];
    if (memory.active()) {
      instant.active.push_back(i);
      instant.force(i) = world.law(i, memory.surface).force(instant.motions[i], memory);
    } else {
      instant.force(i).setZero();
    }
  }
}

/// Commits the law of a contact.
void apply_law(const World& world, std::size_t slot, Instant& instant) {
  Memory& memory = instant.state.memory[slot];
  world.contact_law(world.contacts()[slot].point, memory.surface).commit(instant.motions[slot], memory);
}

/// The slot for a new touch of a point: a free one, or that of the shallowest contact if that is above the new one.
/// @return the end of the point's slots if there is none.
std::size_t slot_for(const World& world, const Instant& instant, std::size_t point, double phi) {
  const std::size_t end = world.end_contact(point);
  if (const std::size_t free = free_slot(world, instant.state, point); free < end) return free;
  const auto higher = [&](std::size_t i, std::size_t j) { return instant.motions[i].phi > instant.motions[j].phi; };
  std::size_t highest = world.first_contact(point);
  for (std::size_t slot = highest + 1; slot < end; ++slot) highest = higher(slot, highest) ? slot : highest;
  return instant.motions[highest].phi > phi ? highest : end;
}

/// Gives a slot to every surface that a point has come to touch; of more than there are slots, to the deepest.
void take_slots(const World& world, const RobotData& data, Instant& instant) {
  State& state = instant.state;
  for (std::size_t point = 0; point < world.points().size(); ++point) {
    if (world.points()[point].bilateral) continue;
    const ContactPoint& shape = world.robot().points()[point];
    const Vector3d centre = world_position(data, shape.joint, shape.position);
    for (int k = 0; k < static_cast<int>(world.surfaces().size()); ++k) {
      const double phi = world.surfaces()[static_cast<std::size_t>(k)].surface->distance(centre) - shape.radius;
      if (phi > 0.0 || has_slot(world, state, point, k)) continue;
      if (free_slot(world, state, point) == world.end_contact(point)) ++instant.overflows;
      const std::size_t slot = slot_for(world, instant, point, phi);
      if (slot == world.end_contact(point)) continue;
      state.memory[slot] = Memory{k, Mode::kOpen, 0.0, Vector3d::Zero()};
      instant.motions[slot] = contact_motion(world, data, point, k);
      apply_law(world, slot, instant);
    }
  }
}

void apply_laws(const World& world, const RobotData& data, Instant& instant) {
  instant.overflows = 0;
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    Memory& memory = instant.state.memory[i];
    if (memory.surface < 0) continue;
    apply_law(world, i, instant);
    if (world.has_free_slots() && !memory.active()) memory = Memory{};
  }
  if (world.has_free_slots()) take_slots(world, data, instant);
}

}  // namespace

Motion contact_motion(const World& world, const RobotData& data, std::size_t point, int surface) {
  const ContactPoint& shape = world.robot().points()[point];
  const PointMotion centre = point_motion(data, shape.joint, shape.position);
  Motion motion;
  motion.dc = centre.velocity;
  if (surface < 0) {
    motion.phi = world.points()[point].bilateral ? 0.0 : std::numeric_limits<double>::infinity();
    motion.n = Vector3d::UnitZ();
    motion.p = centre.position;
    motion.dp = centre.velocity;
    motion.arm.setZero();
    return motion;
  }
  const Surface& touched = *world.surfaces()[static_cast<std::size_t>(surface)].surface;
  const Touch touch = touched.query(centre.position);
  motion.phi = touch.phi - shape.radius;
  motion.n = touch.n;
  motion.arm = -shape.radius * touch.n;
  motion.p = centre.position + motion.arm;
  motion.dp = centre.velocity + centre.omega.cross(motion.arm);
  if (shape.radius > 0.0) motion.rotation = rotation(data, shape.joint);
  motion.curved = !touched.is_flat();
  motion.curvature = touch.curvature;
  return motion;
}

bool has_slot(const World& world, const State& state, std::size_t point, int surface) {
  for (std::size_t slot = world.first_contact(point); slot < world.end_contact(point); ++slot) {
    if (state.memory[slot].surface == surface) return true;
  }
  return false;
}

std::size_t free_slot(const World& world, const State& state, std::size_t point) {
  std::size_t slot = world.first_contact(point);
  while (slot < world.end_contact(point) && state.memory[slot].surface >= 0) ++slot;
  return slot;
}

void evaluate(const World& world, RobotData& data, Instant& instant) {
  update_motions(world, data, instant);
  instant.overflows = 0;
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    Memory& memory = instant.state.memory[i];
    if (memory.surface < 0 || memory.active() == (instant.motions[i].phi <= 0.0)) continue;
    apply_law(world, i, instant);
    if (world.has_free_slots() && !memory.active()) memory = Memory{};
  }
  if (world.has_free_slots()) take_slots(world, data, instant);
  update_forces(world, instant);
}

void start(const World& world, RobotData& data, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Instant& instant) {
  State& state = instant.state;
  state.t = 0.0;
  state.q = q;
  state.v = v;
  world.prepare(state);
  state.memory.assign(world.strands(), Memory{});
  state.grips.assign(world.rough_dofs().size(), Grip{});
  state.commands.count = 0;
  for (std::size_t i = 0; i < world.contacts().size(); ++i) state.memory[i].surface = world.contacts()[i].surface;
  update_motions(world, data, instant);
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    const World::Point& point = world.points()[world.contacts()[i].point];
    if (!point.bilateral) continue;
    state.memory[i].mode = Mode::kBound;
    if (point.anchor) state.memory[i].s = instant.motions[i].p - *point.anchor;
  }
  apply_laws(world, data, instant);
  update_forces(world, instant);
}

void commit(const World& world, RobotData& data, const Instant& before, const std::vector<Followed>* followed,
            Instant& next) {
  update_motions(world, data, next);
  carry_grips(world, before.state, next.state);
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    Memory& memory = next.state.memory[i];
    if (!memory.active()) continue;
    const Motion& to = next.motions[i];
    if (!followed || !(*followed)[i].start) {
      carry(travel(before.motions[i], to), before.motions[i].n, to, memory);
      continue;
    }
    const auto& [start, moved] = (*followed)[i];
    if (memory.slipping()) {
      turn(start->n, to, memory);  // it holds the friction force, wherever the point is
    } else {
      carry(travel(*start, to, start->arm) - moved, start->n, to, memory);
    }
  }
  apply_laws(world, data, next);
  update_forces(world, next);
}

const Eigen::VectorXd& acceleration(const World& world, Workspace& workspace, const Instant& instant,
                                    const Input& input) {
  RobotData& data = workspace.robot;
  update_kinematics(data, instant.state.q, instant.state.v);
  clear_forces(data);
  for (const std::size_t i : instant.active) {
    const Vector3d lam = instant.force(i);
    if (i < world.contacts().size()) {
      add_force(data, world.robot().points()[world.contacts()[i].point].joint, instant.motions[i].p, lam);
    } else if (i < world.first_limit()) {
      add_bond_force(world, i, instant.motions[i], lam, data);
    } else {
      add_joint_force(data, world.limit(i).in_v, lam.x());
    }
  }
  update_dof_forces(world, instant.state, input, workspace.dof_forces);
  return acceleration(data, instant.state.q, instant.state.v, workspace.dof_forces.all, input.wrenches);
}

}  // namespace exposim
