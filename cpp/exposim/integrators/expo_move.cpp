// What a part of a step of Expo does, from terms to where it leads.

#include <algorithm>

#include "exposim/expo/detect.hpp"
#include "exposim/integrators/expo.hpp"
#include "exposim/integrators/expo_scratch.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

/// The forces of the resolved step.
void take_resolved_forces(ExpoScratch& scratch) {
  const StiffSystem& system = scratch.system;
  scratch.update.clear(system);
  for (std::size_t k = 0; k < system.rows().size(); ++k) {
    scratch.update.add(system, system.rows()[k], scratch.resolver.lam_bar(k), scratch.resolver.lam_bar2(k));
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

/// Share of what freezing costs that micro-steps may cost beside it: what turns little within the step hardly feels
/// that terms are frozen at the mean of its velocities.
/// @param angle by which the fastest body turns.
double share_of_freezing(const ExpoScratch& scratch, double angle) {
  const auto first = scratch.strands.all().begin();
  const bool at_limits = std::any_of(first, first + static_cast<std::ptrdiff_t>(scratch.near),
                                     [](const Strand& strand) { return strand.rows == Rows::kCoordinate; });
  const double by_turn = thresholds::kShareOfTurn * angle;
  if (at_limits) return std::min(thresholds::kShareAtLimits, by_turn);
  return std::min(thresholds::kShareOfFreezing, by_turn + thresholds::kShareOfSquare * angle * angle);
}

/// Whether a step in which contacts were followed led so far from its foreseen way that what turns feels it.
bool went_elsewhere(const Instant& now, const ExpoScratch& scratch, double dt) {
  const std::vector<ModeChange>& changes = scratch.resolver.changes();
  const bool at_limit = std::any_of(changes.begin(), changes.end(), [&](const ModeChange& change) {
    return scratch.strands.all()[change.strand].rows == Rows::kCoordinate;
  });
  const double off = (scratch.update.way() - scratch.way).cwiseAbs().maxCoeff() / dt;
  return std::max(now.turn_rate, scratch.turn_rate) * off >
         (at_limit ? thresholds::kUnforeseenAtLimit : thresholds::kUnforeseen);
}

ExpoTangent::Followed followed(const ExpoScratch& scratch) { return {scratch.resolver, scratch.drives}; }

/// @param responds whether averages are those before, changed as the look ahead responded.
ExpoTangent::Averaged averaged_with(const ExpoScratch& scratch, const Eigen::VectorXd& v, const Step& step,
                                    bool responds) {
  return {scratch.system,  scratch.averages,    responds ? &scratch.ahead : nullptr, v,
          step.next.state, scratch.update.way()};
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
    if (scratch.tangent) scratch.tangent->begin(workspace.robot, now, input, scratch.strands, dt);
    update_terms_for(workspace, state, input, dt);
    if (scratch.tangent) {
      const auto at = options_.order == 2 ? ExpoTangent::At::kHalfOfVelocity : ExpoTangent::At::kStart;
      scratch.tangent->take_terms(workspace.robot, scratch.strands, scratch.joints, at, scratch.dq);
    }
  }
  scratch.off = 0.0;
  scratch.estimate.begin(world, workspace.estimates);
  // What slips from the start, or is about to, is followed in any case: the closed form has nothing to say of it.
  bool& changing = scratch.changing;
  changing = options_.order == 2 ? look_ahead(world, workspace, state, input, dt) : scratch.strands.slips();
  if (workspace.estimates) {
    step.error = scratch.estimate.at_least(system, now.turn_rate, dt);
    step.abandoned = step.error > workspace.error_bound;
    if (step.abandoned) return false;
  }
  bool averaged = !changing;  // with the present terms, for which the look ahead found all to hold
  if (averaged) {
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    if (system.active() > 0) scratch.averages.compute(system, dt);
    changing = may_change(system, scratch.strands, scratch.averages, dt);
  }
  if (changing) {
    if (options_.order == 2) {
      if (averaged) follow_as_strands(world, workspace, input, JointTerms::Which::kFast);
      scratch.turn_rate = fastest_turn(workspace.robot);
    }
    changing = follow(workspace, now, dt, step);
    if (changing && options_.order == 2 && went_elsewhere(now, scratch, dt)) {
      if (scratch.tangent) scratch.tangent->follow_way(workspace.robot, system, scratch.strands, followed(scratch));
      scratch.way = scratch.update.way();
      take_middle_of_way(world, workspace, state, input, dt);
      changing = follow(workspace, now, dt, step);
      averaged = false;
    }
    if (changing && scratch.tangent) {
      scratch.tangent->follow(workspace.robot, system, scratch.strands, followed(scratch),
                              velocity_of_terms(scratch, state), step.next.state, scratch.update.way());
    }
    step.transitions = scratch.resolver.info();
    if (!changing && !averaged && system.active() > 0) {
      const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
      scratch.averages.compute(system, dt);
    }
  }
  const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
  if (changing) {
    scratch.contacts.take(world, scratch.strands, scratch.resolver, step);
  } else {
    if (system.active() > 0) step.kernel = scratch.averages.info();
    take_averages(scratch, step);
    scratch.update.apply(workspace.robot, system, state, dt, step.next.state.q, step.next.state.v, &scratch.joints);
    if (scratch.tangent) {
      scratch.tangent->average(workspace.robot, scratch.strands,
                               averaged_with(scratch, velocity_of_terms(scratch, state), step, false));
    }
  }
  if (!changing && options_.order == 2 && now.turn_rate * dt > thresholds::kSlowTurn) {
    repeat_at_the_mean_velocity(workspace, state, input, dt, averaged, step);
  }
  if (changing) {
    scratch.agreement.aim_at(scratch.resolver, system.rows().size());
  } else {
    scratch.agreement.aim_at_averages(system, scratch.strands, scratch.update, dt);
    if (scratch.tangent) {
      scratch.tangent->aim_at_averages(workspace.robot, scratch.strands,
                                       averaged_with(scratch, velocity_of_terms(scratch, state), step, false));
    }
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

bool Expo::look_ahead(const World& world, Workspace& workspace, const State& state, const Input& input,
                      double dt) const {
  ExpoScratch& scratch = scratch_of(workspace);
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
    const auto look = [&] {
      return scratch.ahead.look(workspace.robot, scratch.system, scratch.strands, dt, scratch.acceleration);
    };
    scratch.changing = !look();
    for (int k = 0; scratch.joints.settle_ahead(scratch.acceleration, k); ++k) {  // before anything is followed in vain
      fit_again(workspace, input);
      scratch.changing = !look();
    }
    scratch.way = dt * (state.v + 0.5 * dt * scratch.acceleration);
    scratch.joints.displace(scratch.acceleration, scratch.way);
    if (scratch.tangent) {
      scratch.tangent->look_ahead(workspace.robot, scratch.system, scratch.strands, scratch.ahead, scratch.changing);
    }
  }
  take_middle_of_way(world, workspace, state, input, dt);
  return scratch.changing;
}

void Expo::take_middle_of_way(const World& world, Workspace& workspace, const State& state, const Input& input,
                              double dt) const {
  const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
  ExpoScratch& scratch = scratch_of(workspace);
  StiffSystem& system = scratch.system;
  RobotData& robot = workspace.robot;
  scratch.v_middle = scratch.way / dt;  // at half the time it would be that before an impact, or that after it
  remember_free_accelerations(scratch);
  scratch.estimate.note_bias(robot, system);
  const bool elsewhere =
      scratch.changing && (0.5 * scratch.way - scratch.dq).cwiseAbs().maxCoeff() > thresholds::kFarMiddle;
  if (elsewhere) {
    scratch.dq = 0.5 * scratch.way;
    integrate(robot.robot(), state.q, scratch.dq, scratch.q_middle);
    update_terms(robot, scratch.q_middle, scratch.v_middle);
  } else {
    update_bias(robot, scratch.q_middle, scratch.v_middle);
  }
  if (scratch.tangent) scratch.tangent->take_velocity_of_way();
  const StiffSystem::Forces forces{scratch.joints.force(), input.wrenches};
  const bool drives = scratch.changing && scratch.strands.all().size() == scratch.near &&
                      scratch.joints.follow_as_strands(world, system, JointTerms::Which::kFast, scratch.strands);
  if (!elsewhere || drives) system.update_bias(robot, scratch.strands, forces);
  if (drives) {  // before they are taken out of these
    compare_free_accelerations(scratch);
    scratch.estimate.compare_bias(robot, system);
  }
  if (elsewhere || drives) {
    scratch.joints.fit(robot);
    system.update(robot, scratch.strands, forces, false);
  }
  if ((elsewhere || drives) && scratch.tangent) {
    const auto at = elsewhere ? ExpoTangent::At::kHalfOfWay : ExpoTangent::At::kAsBefore;
    scratch.tangent->take_terms(robot, scratch.strands, scratch.joints, at, scratch.dq);
  }
  if (drives) return;
  compare_free_accelerations(scratch);
  scratch.estimate.compare_bias(robot, system);
}

const Eigen::VectorXd& Expo::velocity_of_terms(const ExpoScratch& scratch, const State& state) const {
  return options_.order == 2 ? scratch.v_middle : state.v;
}

bool Expo::follow(Workspace& workspace, const Instant& now, double dt, Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  FollowedDrives& drives = scratch.drives;
  {
    const Profiler::Scope scope(workspace.profiler, Stage::kKernel);
    drives.begin(workspace.robot);
    if (options_.order == 2) scratch.joints.follow(scratch.system, drives);
    const double more = drives.empty() ? 1.0 : thresholds::kMoreWithDrives;
    const double share = more * share_of_freezing(scratch, dt * now.turn_rate);
    const double tolerance = options_.micro_tolerance + share * scratch.off;
    if (scratch.tangent) {
      if (!scratch.tangent->foreseen()) {
        scratch.tangent->look_ahead(workspace.robot, scratch.system, scratch.strands, scratch.ahead, true);
        scratch.tangent->take_velocity_of_way();
      }
      scratch.tangent->begin_following(workspace.robot, scratch.strands, drives, scratch.resolver);
    }
    scratch.resolver.resolve(scratch.system, scratch.strands, dt,
                             {static_cast<double>(options_.micro_steps), dt * tolerance, thresholds::kCutsPerEvent},
                             drives.empty() ? nullptr : &drives);
  }
  const Profiler::Scope scope(workspace.profiler, Stage::kIntegration);
  scratch.joints.take_followed(scratch.resolver, drives);
  const bool driven = !drives.empty() || scratch.strands.all().size() > scratch.near;
  if (scratch.resolver.unchanged() && !driven) return false;
  take_resolved_forces(scratch);
  if (!drives.empty()) scratch.update.add(drives, now.state.v.size(), dt);
  scratch.update.apply(workspace.robot, scratch.system, now.state, dt, step.next.state.q, step.next.state.v,
                       &scratch.joints);
  return true;
}

void Expo::follow_as_strands(const World& world, Workspace& workspace, const Input& input,
                             JointTerms::Which which) const {
  const Profiler::Scope scope(workspace.profiler, Stage::kTerms);
  ExpoScratch& scratch = scratch_of(workspace);
  if (scratch.joints.follow_as_strands(world, scratch.system, which, scratch.strands)) fit_again(workspace, input);
}

void Expo::fit_again(Workspace& workspace, const Input& input) const {
  ExpoScratch& scratch = scratch_of(workspace);
  scratch.joints.fit(workspace.robot);
  scratch.system.update(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches}, false);
  if (scratch.tangent) {
    scratch.tangent->take_terms(workspace.robot, scratch.strands, scratch.joints, ExpoTangent::At::kAsBefore,
                                scratch.dq);
  }
}

void Expo::repeat_at_the_mean_velocity(Workspace& workspace, const State& state, const Input& input, double dt,
                                       bool all_held, Step& step) const {
  ExpoScratch& scratch = scratch_of(workspace);
  for (int k = 0; k < thresholds::kRepetitions; ++k) {
    scratch.dv = 0.5 * (state.v + step.next.state.v) - scratch.v_middle;
    const bool same = scratch.dv.cwiseAbs().maxCoeff() <= thresholds::kSameVelocity * state.v.cwiseAbs().maxCoeff();
    if (same && scratch.system.active() > 0) return;
    scratch.v_middle += scratch.dv;
    if (scratch.tangent) scratch.tangent->take_mean_velocity();
    remember_free_accelerations(scratch);
    update_bias(workspace.robot, scratch.q_middle, scratch.v_middle);
    scratch.system.update_bias(workspace.robot, scratch.strands, {scratch.joints.force(), input.wrenches});
    if (scratch.system.active() > 0) {
      if (all_held) {
        scratch.ahead.respond(scratch.system, scratch.ddp_bar);
        for (std::size_t i = 0; i < scratch.system.active(); ++i) scratch.averages.add(i, scratch.ahead.response(i));
      } else {
        scratch.averages.compute(scratch.system, dt);
      }
    }
    take_averages(scratch, step);
    scratch.update.apply(workspace.robot, scratch.system, state, dt, step.next.state.q, step.next.state.v,
                         &scratch.joints);
    if (scratch.tangent) {
      const bool responds = all_held && scratch.system.active() > 0;
      scratch.tangent->average(workspace.robot, scratch.strands,
                               averaged_with(scratch, scratch.v_middle, step, responds));
    }
  }
}

}  // namespace exposim
