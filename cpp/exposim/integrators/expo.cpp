#include "exposim/integrators/expo.hpp"

#include <algorithm>

#include "exposim/contact/missed.hpp"
#include "exposim/expo/path_piece.hpp"
#include "exposim/integrators/expo_scratch.hpp"
#include "exposim/path.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

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
  ExpoTangent* const tangent = scratch_of(workspace).tangent;
  const auto keep = [&] {
    if (tangent) tangent->keep_part();
  };
  scratch_of(workspace).parted.drive(TurnLimit(options_.max_turn), thresholds::kMostParts, now, dt, take, keep, step);
  if (tangent) tangent->join_parts();
  if (!step.abandoned) step.next.state.t = time_after(now.state.t, dt);
}

bool Expo::differentiate(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                         Step& step, StepTangent& out) const {
  if (!ExpoTangent::supports(world)) return false;
  ExpoScratch& scratch = scratch_of(workspace);
  ExpoTangent& tangent = scratch.own_tangent;
  tangent.start(world, out);
  scratch.tangent = &tangent;
  scratch.ahead.remember(true);
  scratch.agreement.watch(&tangent);
  this->step(world, workspace, now, input, dt, step);
  if (tangent.missed_strand()) {
    tangent.start(world, out, true);
    this->step(world, workspace, now, input, dt, step);
  }
  scratch.tangent = nullptr;
  scratch.ahead.remember(false);
  scratch.resolver.differentiate(nullptr);
  scratch.agreement.watch(nullptr);
  return tangent.supported() && !step.diverged;
}

void Expo::take_part(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     Step& step) const {
  const StrandList& strands = scratch_of(workspace).strands;
  take_once(world, workspace, now, input, dt, options_.max_acceleration, step);
  const double more = thresholds::kMoreAcceleration * options_.max_acceleration;
  for (const double max_acceleration : {more, thresholds::kAnyAcceleration}) {
    if (step.diverged || step.abandoned || !missed_landing(world, strands, now, step.next, dt)) break;
    const int redone = step.parts.redone + 1;
    take_once(world, workspace, now, input, dt, max_acceleration, step);
    step.parts.redone += redone;
  }
}

void Expo::take_once(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                     double max_acceleration, Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  double normals_turn = 0.0;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    scratch.strands.gather(world, workspace.robot, now, dt, max_acceleration);
    if (options_.order == 2) normals_turn = 2.0 * scratch.strands.turn_ahead(world, 0.5 * dt);
    scratch.joints.begin(world, now.state, input, scratch.strands, dt);
    scratch.near = scratch.strands.all().size();
  }
  bool changing = false;
  int again = 0;
  for (;; ++again) {
    changing = move(world, workspace, now, input, dt, step);
    if (step.abandoned) return;
    if (!scratch.joints.settle(step.next.state.v, again)) break;
  }
  step.parts.redone = again;
  const double turn_rate = std::max(now.turn_rate, scratch.turn_rate);
  finish(world, workspace, now, changing ? &scratch.contacts.followed() : nullptr, dt, step);
  step.motors.clear(world.robot().nv());
  if (!step.diverged) scratch.joints.end(step.motors, step.next.state);
  step.parts.turn = std::max(normals_turn, dt * std::max(turn_rate, step.diverged ? 0.0 : step.next.turn_rate));
  if (workspace.estimates && !step.diverged) {
    step.error = scratch.estimate.value(scratch.system, step.parts.turn, scratch.agreement.mismatch(), changing,
                                        scratch.resolver.error(), scratch.joints.most_fitted(step.next.state.v), dt);
  }
  if (!step.diverged) {
    step.parts.turn = std::max(step.parts.turn, turn_of_normals(world, workspace.robot, scratch.strands));
  }
  if (scratch.tangent && !step.diverged && scratch.tangent->supported()) {
    update_kinematics(workspace.robot, step.next.state.q, step.next.state.v);
    scratch.tangent->end(workspace.robot, scratch.strands, changing ? &scratch.resolver : nullptr, step);
  }
  if (workspace.path && !step.diverged) add_to_path(world, workspace, now, input, dt, changing, step);
}

void Expo::add_to_path(const World& world, Workspace& workspace, const Instant& now, const Input& input, double dt,
                       bool changed, const Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  if (changed && !scratch.drives.empty()) {  // as strands they have courses of their own
    scratch.joints.start_over();
    scratch.strands.keep(scratch.near);
    update_terms(workspace.robot, scratch.q_middle, scratch.v_middle);
    scratch.joints.fit(workspace.robot);
    follow_as_strands(world, workspace, input, JointTerms::Which::kAll);
  }
  const std::vector<std::size_t> slots = changed ? scratch.contacts.slots() : std::vector<std::size_t>{};
  workspace.path->add(path_piece(workspace.robot, scratch.system, scratch.strands, slots, now, dt, step), now);
}

}  // namespace exposim
