#include "exposim/integrators/expo.hpp"

#include <algorithm>

#include "exposim/contact/missed.hpp"
#include "exposim/expo/agreement.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/expo/detect.hpp"
#include "exposim/expo/joint_terms.hpp"
#include "exposim/expo/resolver.hpp"
#include "exposim/expo/robot_update.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/expo/velocity_ahead.hpp"
#include "exposim/integrators/step_control.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Vector3d;

struct ExpoScratch final : Scratch {
  explicit ExpoScratch(const ContactKernel& kernel) : averages(kernel) {}

  StrandList strands;
  JointTerms joints;
  StiffSystem system;
  ForceAverages averages;
  Resolver resolver;
  VelocityAhead ahead;
  RobotUpdate update;
  Agreement agreement;
  Eigen::VectorXd q_middle, v_middle, dq;
  std::vector<std::size_t> slots;
  std::vector<Followed> followed;
  PartedStep parted;
  double turn_rate = 0.0;         // in the middle of a part
  std::size_t near = 0;           // strands that touch or may
  std::vector<Vector3d> ddp_bar;  // as it was at first
  double off = 0.0;               // by which it has changed since [m/s²]
};

namespace {

ExpoScratch& scratch_of(Workspace& workspace) { return static_cast<ExpoScratch&>(*workspace.scratch); }

/// The forces of the resolved step, or half step.
void take_resolved_forces(ExpoScratch& scratch) {
  const StiffSystem& system = scratch.system;
  scratch.update.clear(system);
  for (std::size_t k = 0; k < system.rows().size(); ++k) {
    scratch.update.add(system, system.rows()[k], scratch.resolver.lam_bar(k), scratch.resolver.lam_bar2(k));
  }
}

/// Which entry of the instant each strand has at the end of the step: an open contact that closed takes a free slot.
void assign_slots(const World& world, ExpoScratch& scratch, State& next) {
  scratch.slots.resize(scratch.system.rows().size());
  for (std::size_t k = 0; k < scratch.slots.size(); ++k) {
    const Strand& strand = scratch.strands.all()[k];
    scratch.slots[k] = strand.index;
    if (strand.index == Strand::kNone) continue;
    Memory end = scratch.resolver.end(k);
    const bool keeps = !world.has_free_slots() || end.active();  // else the slot is free again
    end.surface = keeps ? strand.memory.surface : -1;
    next.memory[strand.index] = end;
  }
  if (!world.has_free_slots()) return;
  for (std::size_t k = 0; k < scratch.slots.size(); ++k) {
    const Strand& strand = scratch.strands.all()[k];
    if (strand.index != Strand::kNone || strand.point == Strand::kNone) continue;
    Memory end = scratch.resolver.end(k);
    if (!end.active()) continue;
    const std::size_t slot = free_slot(world, next, strand.point);
    if (slot == world.end_contact(strand.point)) continue;  // the commit counts it, and keeps the deepest
    end.surface = strand.memory.surface;
    next.memory[slot] = end;
    scratch.slots[k] = slot;
  }
}

/// What the resolved step leads to: memories, and forces and events where a contact has a place to report them.
void take_resolved_contacts(const World& world, ExpoScratch& scratch, Step& step) {
  assign_slots(world, scratch, step.next.state);
  scratch.followed.assign(step.next.state.memory.size(), Followed{});
  for (std::size_t k = 0; k < scratch.slots.size(); ++k) {
    const std::size_t slot = scratch.slots[k];
    if (slot == Strand::kNone) continue;
    scratch.followed[slot] = {&scratch.strands.all()[k].motion, scratch.resolver.moved(k)};
    step.lam.segment<3>(3 * static_cast<Eigen::Index>(slot)) += scratch.resolver.lam_bar(k);
    step.lam2.segment<3>(3 * static_cast<Eigen::Index>(slot)) += scratch.resolver.lam_bar2(k);
  }
  for (const Event& event : scratch.resolver.events()) {
    const std::size_t slot = scratch.slots[event.strand];
    if (slot != Strand::kNone) step.events.push_back({event.t, slot, event.from, event.to});
  }
}

/// How far the accelerations without stiff forces turn out to be from what they were taken for at first: what freezing
/// them costs, in order of magnitude.
void remember_free_accelerations(ExpoScratch& scratch) {
  scratch.ddp_bar.clear();
  for (const StiffSystem::Row& row : scratch.system.rows()) scratch.ddp_bar.push_back(row.ddp_bar);
}
void compare_free_accelerations(ExpoScratch& scratch) {
  for (std::size_t k = 0; k < scratch.ddp_bar.size(); ++k) {
    scratch.off = std::max(scratch.off, (scratch.system.rows()[k].ddp_bar - scratch.ddp_bar[k]).norm());
  }
}

bool slips(const StrandList& strands) {
  return std::any_of(strands.all().begin(), strands.all().end(),
                     [](const Strand& strand) { return strand.memory.slipping(); });
}

/// The averages of the closed form, which nothing cuts.
void take_averages(ExpoScratch& scratch, Step& step) {
  const StiffSystem& system = scratch.system;
  scratch.update.clear(system);
  for (std::size_t k = 0; k < system.active(); ++k) {
    const Strand& strand = scratch.strands.all()[k];
    const Vector3d lam = strand.law->project(scratch.averages.lam_bar(k), strand.motion.n);
    const Vector3d lam2 = strand.law->project(scratch.averages.lam_bar2(k), strand.motion.n);
    scratch.update.add(system, system.rows()[k], lam, lam2);
    step.lam.segment<3>(3 * static_cast<Eigen::Index>(strand.index)) = lam;
    step.lam2.segment<3>(3 * static_cast<Eigen::Index>(strand.index)) = lam2;
  }
}

}  // namespace

std::unique_ptr<Scratch> Expo::make_scratch() const {
  ContactKernel kernel;
  kernel.tolerance = options_.tolerance;
  return std::make_unique<ExpoScratch>(kernel);
}

void Expo::step(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                Step& step) const {
  step.clear(world.strands());
  const auto take = [&](const Instant& from, double h, Step& part) {
    take_part(world, workspace, from, input, h, part);
  };
  scratch_of(workspace).parted.drive(TurnLimit(options_.max_turn), thresholds::kMostParts, now, dt, take, step);
  step.next.state.t = time_after(now.state.t, dt);
}

void Expo::take_part(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step) const {
  const StrandList& strands = scratch_of(workspace).strands;
  take_once(world, workspace, now, input, dt, options_.max_acceleration, step);
  const double more = thresholds::kMoreAcceleration * options_.max_acceleration;
  for (const double max_acceleration : {more, thresholds::kAnyAcceleration}) {
    if (step.diverged || !missed_landing(world, strands, now, step.next, dt)) break;
    const int redone = step.parts.redone + 1;
    take_once(world, workspace, now, input, dt, max_acceleration, step);
    step.parts.redone += redone;
  }
}

void Expo::take_once(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     double max_acceleration, Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    scratch.strands.gather(world, workspace.robot, now, dt, max_acceleration);
    if (options_.order == 2) scratch.strands.turn_ahead(world, 0.5 * dt);
    scratch.joints.begin(world, now.state, input, scratch.strands, dt);
    scratch.near = scratch.strands.all().size();
  }
  bool changing = false;
  int again = 0;
  for (;; ++again) {
    changing = move(world, workspace, now, input, dt, step);
    if (!scratch.joints.settle(step.next.state.v, again)) break;
  }
  step.parts.redone = again;
  const double turn_rate = std::max(now.turn_rate, scratch.turn_rate);
  finish(world, workspace, now, changing ? &scratch.followed : nullptr, dt, step);
  step.motors.clear(world.robot().nv());
  if (!step.diverged) scratch.joints.end(step.motors, step.next.state);
  step.parts.turn = dt * std::max(turn_rate, step.diverged ? 0.0 : step.next.turn_rate);
}

bool Expo::move(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  const StiffSystem& system = scratch.system;
  const State& state = now.state;
  step.clear(world.strands());
  step.next.state.memory = state.memory;
  scratch.turn_rate = 0.0;
  scratch.joints.start_over();
  scratch.strands.keep(scratch.near);
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    update_terms_for(workspace, state, input, dt);
  }
  // What slips from the start, or is about to, is followed in any case: the closed form has nothing to say of it.
  bool changing = slips(scratch.strands);
  if (!changing && options_.order == 2) changing = !predict_middle(workspace, state, input, dt);
  if (!changing) {
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    if (system.active() > 0) scratch.averages.compute(system, dt);
    changing = may_change(system, scratch.strands, scratch.averages, dt);
  }
  if (changing) {
    scratch.off = 0.0;
    if (options_.order == 2) {
      predict_changing_middle(world, workspace, now, input, dt);
      scratch.turn_rate = fastest_turn(workspace.robot);
    }
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    const double tolerance = options_.micro_tolerance + thresholds::kShareOfFreezing * scratch.off;
    scratch.resolver.resolve(system, scratch.strands, dt,
                             {static_cast<double>(options_.micro_steps), dt * tolerance, thresholds::kCutsPerEvent});
    step.transitions = scratch.resolver.info();
    scratch.joints.take_followed(scratch.resolver);
    changing = !scratch.resolver.unchanged() || scratch.strands.all().size() > scratch.near;
    if (!changing && system.active() > 0) scratch.averages.compute(system, dt);  // exact, with the latest terms
  }
  if (!changing && system.active() > 0) step.kernel = scratch.averages.info();
  const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
  if (changing) {
    take_resolved_forces(scratch);
    take_resolved_contacts(world, scratch, step);
  } else {
    take_averages(scratch, step);
  }
  scratch.update.apply(workspace.robot, system, state, dt, step.next.state.q, step.next.state.v, &scratch.joints);
  if (!changing && options_.order == 2 && now.turn_rate * dt > thresholds::kSlowTurn) {
    repeat_at_the_mean_velocity(workspace, state, input, dt, step);
  }
  if (changing) {
    scratch.agreement.aim_at(scratch.resolver, system.rows().size());
  } else {
    scratch.agreement.aim_at_averages(system, scratch.strands, scratch.update, dt);
  }
  scratch.agreement.restore(world, workspace.robot, system, scratch.strands, scratch.update.largest(), dt,
                            step.next.state);
  return changing;
}

void Expo::update_terms_for(Workspace& workspace, const State& state, const Input& input, double dt) const {
  ExpoScratch& scratch = scratch_of(workspace);
  const bool middle = options_.order == 2;
  if (middle) {
    scratch.dq = 0.5 * dt * state.v;
    integrate(workspace.robot.robot(), state.q, scratch.dq, scratch.q_middle);
  }
  update_terms(workspace.robot, middle ? scratch.q_middle : state.q, state.v);
  scratch.joints.fit(workspace.robot);
  scratch.system.update(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches}, !middle);
}

bool Expo::predict_middle(Workspace& workspace, const State& state, const Input& input, double dt) const {
  const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
  ExpoScratch& scratch = scratch_of(workspace);
  if (!scratch.ahead.predict(workspace.robot, scratch.system, scratch.strands, state.v, 0.5 * dt, scratch.v_middle)) {
    return false;
  }
  update_bias(workspace.robot, scratch.q_middle, scratch.v_middle);
  scratch.system.update_bias(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches});
  return true;
}

void Expo::predict_changing_middle(const World& world, Workspace& workspace, const Instant& now, const Input& input,
                                   double dt) const {
  ExpoScratch& scratch = scratch_of(workspace);
  const State& state = now.state;
  StiffSystem& system = scratch.system;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    const bool fast = now.turn_rate * dt > thresholds::kSlowTurn;
    const double tolerance = fast ? thresholds::kLessRoughTolerance : thresholds::kRoughTolerance;
    scratch.resolver.resolve(system, scratch.strands, dt, {1.0, dt * tolerance, 0});
    take_resolved_forces(scratch);
    scratch.update.way(workspace.robot, system, state, dt, scratch.joints, scratch.dq);
  }
  const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
  scratch.v_middle = scratch.dq / dt;  // at half the time it would be that before an impact, or that after it
  remember_free_accelerations(scratch);
  const bool elsewhere = 0.5 * (scratch.dq - dt * state.v).cwiseAbs().maxCoeff() > thresholds::kFarMiddle;
  if (elsewhere) {
    scratch.dq *= 0.5;
    integrate(workspace.robot.robot(), state.q, scratch.dq, scratch.q_middle);
    update_terms(workspace.robot, scratch.q_middle, scratch.v_middle);
  } else {
    update_bias(workspace.robot, scratch.q_middle, scratch.v_middle);
  }
  const bool followed = scratch.joints.follow(world, system, scratch.strands);
  if (elsewhere || followed) {
    scratch.joints.fit(workspace.robot);
    system.update(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches}, false);
  } else {
    system.update_bias(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches});
  }
  compare_free_accelerations(scratch);
}

void Expo::repeat_at_the_mean_velocity(Workspace& workspace, const State& state, const Input& input, double dt,
                                       Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  for (int k = 0; k < thresholds::kRepetitions; ++k) {
    scratch.v_middle = 0.5 * (state.v + step.next.state.v);
    update_bias(workspace.robot, scratch.q_middle, scratch.v_middle);
    scratch.system.update_bias(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches});
    if (scratch.system.active() > 0) scratch.averages.compute(scratch.system, dt);
    take_averages(scratch, step);
    scratch.update.apply(workspace.robot, scratch.system, state, dt, step.next.state.q, step.next.state.v,
                         &scratch.joints);
  }
}

}  // namespace exposim
