#include "exposim/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "exposim/derivatives/differences.hpp"
#include "exposim/joints/delays.hpp"
#include "exposim/joints/dof_forces.hpp"
#include "exposim/kernels/integrals.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

namespace {

// Of steps that are chosen by their error: how much longer one may be than the one before, or shorter after one that
// was not good enough; what is kept back of what the estimate allows; and how far off one is that diverged.
constexpr double kMostGrowth = 3.0, kLeastShare = 0.1, kSafety = 0.9, kFarOff = 1e6;

/// Whether no contact is stretched along its normal, beyond rounding.
bool stretches_are_tangential(const Instant& instant) {
  for (const std::size_t i : instant.active) {
    const Memory& memory = instant.state.memory[i];
    if (memory.mode == Mode::kBound) continue;
    const double along = std::abs(instant.motions[i].n.dot(memory.s));
    if (!(along <= thresholds::kTangential * (memory.s.norm() + thresholds::kNoLength))) return false;
  }
  return true;
}

/// Whether a motor that only passes on what it is told is told what it has, to the last digits.
bool any_just_at_its_effort(const World& world, const Input& input) {
  const std::vector<Eigen::Index>& dofs = world.acting_dofs();
  return std::any_of(dofs.begin(), dofs.end(), [&](Eigen::Index i) {
    const DofLaw& law = world.joints().dofs[static_cast<std::size_t>(i)];
    const double effort = law.motor.effort;
    return !law.reacts() && std::abs(std::abs(input.tau(i)) - effort) <= thresholds::kBeyondBound * effort;
  });
}

}  // namespace

Simulator::Simulator(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt)
    : world_(std::move(world)),
      integrator_(std::move(integrator)),
      workspace_(*world_, integrator_->make_scratch()),
      dt_(dt) {
  forget();
}

void Simulator::enter(const std::shared_ptr<const World>& world) {
  if (world == world_) return;
  if (!workspace_.robot.adopt(world->shared_robot())) workspace_.scratch = integrator_->make_scratch();
  world_ = world;
}

void Simulator::reset(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  start(*world_, workspace_.robot, q, v, given_);
  std::swap(now_, given_);
  forget();
}

bool Simulator::set_state(const Eigen::Ref<const Eigen::VectorXd>& x) {
  if (!evaluate_given(x) || !stretches_are_tangential(given_)) return false;
  std::swap(now_, given_);
  forget();
  return true;
}

bool Simulator::evaluate_given(const Eigen::Ref<const Eigen::VectorXd>& x) {
  if (!world_->unpack(x, given_.state)) return false;
  if (!is_normalised(world_->robot(), given_.state.q, thresholds::kQuaternionTolerance)) return false;
  evaluate(*world_, workspace_.robot, given_);
  return true;
}

bool Simulator::plus(const Eigen::VectorXd& x, const Eigen::VectorXd& dx, Eigen::VectorXd& moved) {
  State state, result;
  if (!world_->unpack(x, state)) return false;
  world_->plus(state, dx, result);
  moved.resize(world_->packed_size());
  world_->pack(result, moved);
  if (!evaluate_given(moved)) return false;
  for (std::size_t i = 0; i < world_->contacts().size(); ++i) {
    Memory& memory = result.memory[i];
    if (memory.mode != Mode::kBound) memory.s = tangent(memory.s, given_.motions[i].n);
  }
  world_->pack(result, moved);
  return true;
}

void Simulator::forget() {
  step_.clear(world_->strands());
  step_.motors.clear(world_->robot().nv());
  statistics_ = {};
  statistics_.overflows = now_.overflows;
  workspace_.profiler.clear();
  divergence_.reset();
  events_.clear();
  has_stepped_ = false;
  input_.tau.setZero(world_->robot().nv());
  input_.target = world_->joints().rest;
  input_.target_velocity.setZero(world_->robot().nv());
  input_.wrenches.clear();
}

bool Simulator::step(const Input& input, int n) {
  const bool delayed = world_->longest_delay() > 0.0;
  if (delayed) remember_targets(*world_, input, now_.state);
  input_ = input;
  last_dt_ = dt_;
  for (int i = 0; i < n; ++i) {
    if (delayed) targets_in_force(*world_, now_.state, dt_, input_.target, input_.target_velocity);
    integrator_->step(*world_, workspace_, now_, input_, dt_, step_);
    if (step_.diverged) {
      note_divergence();
      return false;
    }
    accept();
  }
  return true;
}

bool Simulator::advance(const Input& input, double until, const StepChoice& choice, long most, double& h,
                        Advanced& advanced) {
  const bool delayed = world_->longest_delay() > 0.0;
  if (delayed) remember_targets(*world_, input, now_.state);
  input_ = input;
  for (long taken = 0; taken < most && now_.state.t < until;) {
    const double left = until - now_.state.t;
    const double parts = std::ceil(left / std::clamp(h, choice.smallest, choice.largest) - 1e-6);
    const double dt = parts > 1.0 ? left / parts : left;
    const bool least = dt <= 1.001 * choice.smallest;
    if (delayed) targets_in_force(*world_, now_.state, dt, input_.target, input_.target_velocity);
    workspace_.estimates = true;
    workspace_.error_bound = least ? std::numeric_limits<double>::infinity() : choice.accuracy;
    integrator_->step(*world_, workspace_, now_, input_, dt, step_);
    workspace_.estimates = false;
    last_dt_ = dt;
    if (step_.diverged && least) {
      note_divergence();
      return false;
    }
    // The estimates are of second order.
    const double off = step_.diverged ? kFarOff : step_.error / choice.accuracy;
    const double factor = std::min(kMostGrowth, kSafety / std::sqrt(off));
    if ((step_.diverged || off > 1.0) && !least) {
      h = dt * std::max(factor, kLeastShare);
      ++advanced.rejected;
      has_stepped_ = false;
      continue;
    }
    if (parts <= 1.0) step_.next.state.t = until;
    accept();
    h = dt * factor;
    advanced.smallest = advanced.steps == 0 ? dt : std::min(advanced.smallest, dt);
    advanced.largest = std::max(advanced.largest, dt);
    advanced.error += step_.error;
    ++advanced.steps;
    ++taken;
  }
  return true;
}

void Simulator::note_divergence() {
  has_stepped_ = false;
  const State& led_to = step_.next.state;
  divergence_ = Divergence{led_to.t, statistics_.steps + 1, led_to.q, led_to.v, {}};
  divergence_->start.resize(world_->packed_size());
  world_->pack(now_.state, divergence_->start);
}

void Simulator::accept() {
  has_stepped_ = true;
  std::swap(step_.next.state.commands, now_.state.commands);
  std::swap(now_, step_.next);
  for (const Event& event : step_.events) {
    events_.push_back(event);
    events_.back().t = std::min(step_.next.state.t + event.t, now_.state.t);
  }

  statistics_.steps += 1;
  statistics_.iterations += step_.newton.iterations;
  statistics_.max_iterations = std::max(statistics_.max_iterations, step_.newton.iterations);
  statistics_.not_converged += step_.newton.converged ? 0 : 1;
  statistics_.resolved += step_.transitions.resolved ? 1 : 0;
  statistics_.limited += step_.transitions.limited ? 1 : 0;
  statistics_.parts += step_.parts.count;
  statistics_.overflows += now_.overflows;
}

void Simulator::take_holds(const std::vector<Hold>& told) {
  for (std::size_t i = 0; i < std::min(told.size(), now_.holds.size()); ++i) {
    if (now_.state.memory[i].mode == Mode::kIdle && told[i] != Hold::kNone) now_.holds[i] = told[i];
  }
}

std::shared_ptr<Path> Simulator::path() {
  if (!has_stepped_) return nullptr;
  auto path = std::make_shared<Path>(world_, input_, step_.next, now_);
  const Profiler profiler = workspace_.profiler;
  workspace_.path = path.get();
  Step again;
  integrator_->step(*world_, workspace_, step_.next, input_, last_dt_, again);
  workspace_.path = nullptr;
  workspace_.profiler = profiler;
  path->complete();
  return path;
}

bool Simulator::differentiate(const DerivativeRequest& request, StepDerivatives& out) {
  if (!has_stepped_) return false;
  const Profiler profiler = workspace_.profiler;
  Step again;
  differentiate(step_.next, input_, last_dt_, again, request, out);
  workspace_.profiler = profiler;
  return true;
}

Simulator::Linearized Simulator::linearize(const Eigen::Ref<const Eigen::VectorXd>& x, const Input& input, double dt,
                                           const DerivativeRequest& request, StepDerivatives& out,
                                           Eigen::Ref<Eigen::VectorXd> next) {
  if (!evaluate_given(x) || !stretches_are_tangential(given_)) return Linearized::kNoState;
  Input in_force = input;
  if (world_->longest_delay() > 0.0) {
    remember_targets(*world_, input, given_.state);
    targets_in_force(*world_, given_.state, dt, in_force.target, in_force.target_velocity);
  }
  differentiate(given_, in_force, dt, tried_, request, out);
  if (tried_.diverged) return Linearized::kDiverged;
  tried_.next.state.commands = given_.state.commands;
  world_->pack(tried_.next.state, next);
  return Linearized::kDone;
}

void Simulator::differentiate(const Instant& start, const Input& input, double dt, Step& step,
                              const DerivativeRequest& request, StepDerivatives& out) {
  out.grazing.clear();
  out.differences = false;
  const StepTaken taken{*world_, *integrator_, start, input, dt, step};
  if (request.differences || !differentiate_by_formulas(taken, workspace_, request, step, out)) {
    integrator_->step(*world_, workspace_, start, input, dt, step);
    if (step.diverged) return;
    out.grazing.clear();
    differentiate_by_differences(taken, workspace_, request, out);
  }
  if (any_just_at_its_effort(*world_, input)) {
    out.grazing.push_back({0.0, Grazing::kNoStrand, Grazing::Kind::kEffort});
  }
  out.events = step.events;
  for (Event& event : out.events) event.t = std::min(start.state.t + event.t, step.next.state.t);
}

Eigen::VectorXd Simulator::acceleration() { return exposim::acceleration(*world_, workspace_, now_, input_); }

StiffSystem Simulator::stiff_system(const Input& input) {
  StrandList strands;
  strands.gather(*world_, workspace_.robot, now_, dt_, -1.0);
  StiffSystem system;
  update_dof_forces(*world_, now_.state, input, workspace_.dof_forces);
  update_terms(workspace_.robot, now_.state.q, now_.state.v);
  factor(workspace_.robot);
  system.update(workspace_.robot, strands, {workspace_.dof_forces.all, input.wrenches}, true);
  return system;
}

Eigen::MatrixXd Simulator::predict_forces(const Eigen::VectorXd& times, const Input& input) {
  const auto contacts = static_cast<Eigen::Index>(world_->contacts().size());
  Eigen::MatrixXd lam = Eigen::MatrixXd::Zero(times.size(), 3 * contacts);
  if (now_.active.empty()) return lam;
  const StiffSystem system = stiff_system(input);
  Eigen::MatrixXd A, b_x0;
  system.full_system(A, b_x0);
  const Eigen::Index m = A.rows() / 2;
  IntegralKernel kernel{KernelOptions{}};
  for (Eigen::Index time = 0; time < times.size(); ++time) {
    kernel.compute(A, b_x0, times(time));
    const Eigen::VectorXd x = b_x0.col(1) + A * kernel.x_int() + times(time) * b_x0.col(0);
    for (std::size_t k = 0; k < system.active(); ++k) {
      const auto strand = static_cast<Eigen::Index>(now_.active[k]), first = 3 * static_cast<Eigen::Index>(k);
      if (strand >= contacts) continue;
      const StiffSystem::Row& row = system.rows()[k];
      lam.row(time).segment<3>(3 * strand) = -row.K * x.segment<3>(first) - row.B * x.segment<3>(m + first);
    }
  }
  return lam;
}

}  // namespace exposim
