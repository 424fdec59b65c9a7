#include "exposim/contact/evaluation.hpp"

#include <Eigen/Geometry>
#include <limits>

#include "exposim/contact/bond_motion.hpp"
#include "exposim/contact/guests.hpp"
#include "exposim/contact/limit_motion.hpp"
#include "exposim/contact/nearby.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/robot/forward_dynamics.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

void update_motions(const World& world, RobotData& data, Instant& instant) {
  State& state = instant.state;
  update_kinematics(data, state.q, state.v);
  instant.turn_rate = fastest_turn(data);
  instant.motions.resize(world.strands());
  state.memory.resize(world.strands());
  const std::size_t contacts = world.contacts().size(), first_limit = world.first_limit(), strands = world.strands();
  for (std::size_t i = 0; i < contacts; ++i) {
    instant.motions[i] = contact_motion(world, data, world.point_of(i, state.memory[i]), state.memory[i].surface);
  }
  for (std::size_t i = contacts; i < first_limit; ++i) {
    update_bond(world, data, state, i, instant.motions[i], state.memory[i]);
  }
  for (std::size_t i = first_limit; i < strands; ++i) {
    update_limit(world, state, i, instant.motions[i], state.memory[i]);
  }
}

void update_forces(const World& world, Instant& instant) {
  instant.active.clear();
  const std::size_t strands = world.strands();
  instant.lam.resize(3 * static_cast<Eigen::Index>(strands));
  for (std::size_t i = 0; i < strands; ++i) {
    const Memory& memory = instant.state.memory[i];
    if (memory.active()) {
      instant.active.push_back(i);
      instant.force(i) = world.law(i, memory).force(instant.motions[i], memory);
    } else {
      instant.force(i).setZero();
    }
  }
}

/// Commits the law of a contact.
void apply_law(const World& world, std::size_t slot, Instant& instant) {
  Memory& memory = instant.state.memory[slot];
  world.law(slot, memory).commit(instant.motions[slot], memory);
}

/// Whether some point of the same edge has a slot.
bool lies_on(const World& world, const State& state, std::size_t point, int surface) {
  const auto [first, end] = world.slots(point, surface);
  for (std::size_t slot = first; slot < end; ++slot) {
    const Memory& memory = state.memory[slot];
    if (memory.guest >= 0 && &world.edge_of(world.guest_point(memory.guest)) == &world.edge_of(point)) return true;
  }
  return false;
}

/// Gives a slot to a new touch: a free one, or that of the shallowest contact if that is above the new one.
void take_slot(const World& world, std::size_t point, int surface, const Motion& motion, Instant& instant) {
  State& state = instant.state;
  const auto [first, end] = world.slots(point, surface);
  std::size_t slot = free_slot(world, state, point, surface);
  if (slot == end) {
    if (world.is_on_edge(point) && lies_on(world, instant.state, point, surface)) return;  // it has enough of that edge
    ++instant.overflows;
    slot = first;
    for (std::size_t i = first + 1; i < end; ++i) {
      if (instant.motions[i].phi > instant.motions[slot].phi) slot = i;
    }
    if (!(instant.motions[slot].phi > motion.phi)) return;
  }
  state.memory[slot] = Memory{surface, Mode::kOpen, 0.0, Vector3d::Zero()};
  if (world.is_on_edge(point)) {
    // Where a shape comes to lie flat, points of the edge are in it at once: pressed from now on, not by what they are.
    Memory& memory = state.memory[slot];
    memory.guest = static_cast<int>(point - world.guest_point(0));
    memory.mode = Mode::kIdle;
    memory.phi0 = motion.phi;
  }
  instant.motions[slot] = motion;
  apply_law(world, slot, instant);
}

/// Frees the slot of the closest point of an edge on which a shape has come to lie flat.
void leave_closest(const World& world, const RobotData& data, std::size_t point, int surface, Instant& instant) {
  const int closest = world.closest_guest(world.number_of_edge(point));
  const auto [first, end] = world.slots(point, surface);
  for (std::size_t slot = first; slot < end; ++slot) {
    Memory& memory = instant.state.memory[slot];
    if (memory.guest != closest) continue;
    memory = Memory{};
    instant.motions[slot] = contact_motion(world, data, World::Contact::kGuest, -1);
  }
}

/// Gives a slot to every surface that a point has come to touch; of more than there are slots, to the deepest.
void take_slots(const World& world, const RobotData& data, Instant& instant) {
  const auto touches = [](const Motion& motion) { return motion.phi <= 0.0; };
  for (std::size_t point = 0; world.has_free_slots() && point < world.points().size(); ++point) {
    if (world.points()[point].bilateral) continue;
    for_each_near(world, data, point, world.robot().points()[point].radius, 0.0, [&](int k) {
      if (has_slot(world, instant.state, point, k)) return;
      const Motion motion = contact_motion(world, data, point, k);
      if (touches(motion)) take_slot(world, point, k, motion, instant);
    });
  }
  if (world.edges().empty()) return;
  for (const int k : world.carried()) {
    for_each_guest(world, data, k, 0.0, [&](std::size_t point, const Motion& motion) {
      if (!touches(motion)) return;
      if (!world.is_closest(point)) leave_closest(world, data, point, k, instant);
      if (!has_slot(world, instant.state, point, k)) take_slot(world, point, k, motion, instant);
    });
  }
}

void apply_laws(const World& world, const RobotData& data, Instant& instant) {
  instant.overflows = 0;
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    Memory& memory = instant.state.memory[i];
    if (memory.surface < 0) continue;
    apply_law(world, i, instant);
    if (world.changes_hands(i) && !memory.active()) memory = Memory{};
  }
  take_slots(world, data, instant);
}

/// As if nothing had been told of it.
void start_telling(const World& world, Instant& instant) {
  instant.holds.resize(world.strands());
  for (std::size_t i = 0; i < world.strands(); ++i) instant.holds[i] = hold_in(instant.state.memory[i].mode);
}

}  // namespace

Motion contact_motion(const World& world, const RobotData& data, std::size_t point, int surface) {
  // A slot that no guest has is nowhere.
  ContactPoint shape = point == World::Contact::kGuest ? ContactPoint{0, Vector3d::Zero(), 0.0} : world.shape(point);
  const bool slides = surface >= 0 && world.is_on_edge(point) && world.is_closest(point);
  if (slides) shape.position = closest_on_edge(world, data, world.edge_of(point), surface);
  const PointMotion centre = point_motion(data, shape.joint, shape.position);
  Motion motion;
  motion.dc = centre.velocity;
  if (surface < 0) {
    const bool bilateral = point < world.points().size() && world.points()[point].bilateral;
    motion.phi = bilateral ? 0.0 : std::numeric_limits<double>::infinity();
    motion.n = Vector3d::UnitZ();
    motion.p = centre.position;
    motion.dp = centre.velocity;
    motion.arm.setZero();
    return motion;
  }
  const std::size_t joint = world.joint_of(surface);
  motion.carried = joint != 0;
  if (motion.carried) motion.in_carrier = position_in(data, joint, centre.position);
  const Touch touch = world.surface(surface).query(motion.carried ? motion.in_carrier : centre.position);
  motion.phi = touch.phi - shape.radius;
  motion.n = touch.n;
  motion.curved = touch.curvature.cwiseAbs().maxCoeff() > thresholds::kFlat;
  motion.curvature = touch.curvature;
  const bool turns = slides || shape.radius > 0.0;
  if (turns) motion.rotation = rotation(data, shape.joint);
  Vector3d omega = centre.omega;
  if (motion.carried) {
    const Eigen::Matrix3d R = motion.carrier = rotation(data, joint);
    motion.spin = angular_velocity(data, joint);
    motion.n = R * motion.n;
    if (motion.curved) motion.curvature = R * touch.curvature * R.transpose();
    if (turns) motion.rotation = R.transpose() * motion.rotation;
    motion.dc -= velocity_at(data, joint, centre.position);
    omega -= motion.spin;
  }
  motion.arm = -shape.radius * motion.n;
  motion.p = centre.position + motion.arm;
  motion.dp = motion.dc + omega.cross(motion.arm);
  if (slides) slide_along(data, world.edge_of(point), shape.position, omega, motion);
  return motion;
}

bool has_slot(const World& world, const State& state, std::size_t point, int surface) {
  const auto [first, end] = world.slots(point, surface);
  for (std::size_t slot = first; slot < end; ++slot) {
    const Memory& memory = state.memory[slot];
    if (memory.surface == surface && world.point_of(slot, memory) == point) return true;
  }
  return false;
}

std::size_t free_slot(const World& world, const State& state, std::size_t point, int surface) {
  auto [slot, end] = world.slots(point, surface);
  while (slot < end && state.memory[slot].surface >= 0) ++slot;
  return slot;
}

void evaluate(const World& world, RobotData& data, Instant& instant) {
  update_motions(world, data, instant);
  instant.overflows = 0;
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    Memory& memory = instant.state.memory[i];
    if (memory.surface < 0 || memory.active() == (instant.motions[i].phi <= 0.0)) continue;
    apply_law(world, i, instant);
    if (world.changes_hands(i) && !memory.active()) memory = Memory{};
  }
  take_slots(world, data, instant);
  update_forces(world, instant);
  start_telling(world, instant);
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
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    if (!world.is_guest(i)) state.memory[i].surface = world.contacts()[i].surface;
  }
  update_motions(world, data, instant);
  for (std::size_t i = 0; i < world.contacts().size(); ++i) {
    if (world.is_guest(i)) continue;
    const World::Point& point = world.points()[world.contacts()[i].point];
    if (!point.bilateral) continue;
    state.memory[i].mode = Mode::kBound;
    if (point.anchor) state.memory[i].s = instant.motions[i].p - *point.anchor;
  }
  apply_laws(world, data, instant);
  update_forces(world, instant);
  start_telling(world, instant);
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
      carry(travel(before.motions[i], to), before.motions[i], to, memory);
      continue;
    }
    const auto& [start, moved] = (*followed)[i];
    if (memory.slipping()) {
      turn(*start, to, memory);  // it holds the friction force, wherever the point is
    } else {
      carry(travel(*start, to, start->arm) - moved, *start, to, memory);
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
      const Vector3d& p = instant.motions[i].p;
      const Memory& memory = instant.state.memory[i];
      add_force(data, world.shape(world.point_of(i, memory)).joint, p, lam);
      if (instant.motions[i].carried) add_force(data, world.joint_of(memory.surface), p, -lam);
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
