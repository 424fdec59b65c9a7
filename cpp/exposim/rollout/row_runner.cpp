#include "exposim/rollout/row_runner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "exposim/readings.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr Index kBetweenGlances = 8;  // steps

/// Where a record of a row begins.
template <typename Number>
Number* place(Number* all, const RolloutTask& task, Index row, Index record, Index size) {
  return all + (row * (task.steps / task.every) + record) * size;
}

/// Of a part of a matrix, row by row.
template <typename From, typename To>
void copy_rows(const From& from, To& to) {
  for (Index i = 0; i < from.rows(); ++i) std::copy_n(from.row(i).data(), from.cols(), to.row(i).data());
}

Index contacts_of(const World& world) { return static_cast<Index>(world.contacts().size()); }

}  // namespace

RowRunner::RowRunner(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt)
    : simulator_(std::move(world), std::move(integrator), dt) {}

void RowRunner::run(const std::shared_ptr<const World>& world, const RolloutTask& task, Index row,
                    RolloutRecords& records, Sharing& sharing, const Glance& glance) {
  simulator_.enter(world);
  prepare(task, row);
  records.status[row] = static_cast<std::int32_t>(RowStatus::kDone);
  records.bad[row] = static_cast<std::int32_t>(BadInput::kNone);
  records.stopped_at[row] = -1;
  if (records.events) (*records.events)[static_cast<std::size_t>(row)].clear();
  const auto mark = [&](RowStatus status, BadInput bad, Index step) {
    records.status[row] = static_cast<std::int32_t>(status);
    records.bad[row] = static_cast<std::int32_t>(bad);
    records.stopped_at[row] = step + 1;
  };
  if (!simulator_.set_state(start_)) {
    mark(RowStatus::kBadInput, BadInput::kState, 0);
    write_nothing(task, row, records);
    return;
  }
  Index step = 0, told = 0;
  for (; step < task.steps; ++step) {
    if (const BadInput bad = read_input(task, row, step); bad != BadInput::kNone) {
      mark(RowStatus::kBadInput, bad, step);
      break;
    }
    if (!simulator_.step(input_, 1)) {
      mark(RowStatus::kDiverged, BadInput::kNone, step);
      const std::lock_guard lock(records.mutex);
      records.divergences.emplace_back(row, *simulator_.divergence());
      break;
    }
    if (!records.events) simulator_.forget_events();
    if (records.torques) torques_ = simulator_.last_step().motors.torque;
    if ((step + 1) % task.every == 0) write(task, row, step / task.every, records);
    if ((step + 1) % kBetweenGlances == 0) {
      sharing.steps.fetch_add(step + 1 - told, std::memory_order_relaxed);
      told = step + 1;
      if (glance) glance();
      if (sharing.stop.load(std::memory_order_relaxed)) return;
    }
  }
  for (Index record = step / task.every; record < task.steps / task.every; ++record) write(task, row, record, records);
  sharing.steps.fetch_add(task.steps - told, std::memory_order_relaxed);
  finish(row, records);
}

void RowRunner::linearize(const std::shared_ptr<const World>& world, const RolloutTask& task, Index row, double dt,
                          const LinearizedRows& rows) {
  simulator_.enter(world);
  prepare(task, row);
  const Index size = world->packed_size(), n = world->tangent_size(), nv = world->robot().nv();
  Eigen::Map<VectorXd> next(rows.next + row * size, size);
  Eigen::Map<RowMatrixXd> x(rows.x + row * n * n, n, n);
  const Index nf = rows.request.forces ? nv : 0;
  Eigen::Map<RowMatrixXd> force(nf > 0 ? rows.force + row * n * nf : nullptr, n, nf);
  const auto np = static_cast<Index>(rows.request.parameters.size());
  Eigen::Map<RowMatrixXd> parameters(np > 0 ? rows.parameters + row * n * np : nullptr, n, np);
  BadInput bad = read_input(task, row, 0);
  auto came_of_it = Simulator::Linearized::kNoState;
  if (bad == BadInput::kNone) {
    came_of_it = simulator_.linearize(start_, input_, dt, rows.request, derivatives_, next);
    if (came_of_it == Simulator::Linearized::kNoState) bad = BadInput::kState;
  }
  rows.bad[row] = static_cast<std::int32_t>(bad);
  rows.diverged[row] = came_of_it == Simulator::Linearized::kDiverged;
  rows.grazing[row] = 0;
  rows.differences[row] = false;
  if (came_of_it != Simulator::Linearized::kDone) {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    next.setConstant(kNothing);
    x.setConstant(kNothing);
    force.setConstant(kNothing);
    parameters.setConstant(kNothing);
    return;
  }
  copy_rows(derivatives_.x(), x);
  copy_rows(derivatives_.force(), force);
  copy_rows(derivatives_.parameters(), parameters);
  rows.grazing[row] = static_cast<std::int32_t>(derivatives_.grazing.size());
  rows.differences[row] = derivatives_.differences;
}

void RowRunner::prepare(const RolloutTask& task, Index row) {
  const World& world = simulator_.world();
  start_.resize(world.packed_size());
  for (Index i = 0; i < start_.size(); ++i) start_(i) = task.states.at(row, 0, i);
  input_.tau.setZero(world.robot().nv());
  input_.target = world.joints().rest;
  input_.target_velocity.setZero(world.robot().nv());
  input_.wrenches.clear();
  for (const WrenchChannel& wrench : task.wrenches) {
    input_.wrenches.push_back({wrench.joint, wrench.position, {}, {}});
  }
  torques_.setZero(world.robot().nv());
  if (!task.policy) return;
  if (policy_ != task.policy) {
    policy_ = task.policy;
    memory_ = policy_->make_memory(world);
  }
  policy_->begin(task.commands, row, *memory_);
}

BadInput RowRunner::read_input(const RolloutTask& task, Index row, Index step) {
  if (task.policy) {  // which adds to what is given, not to what it added before
    input_.tau.setZero();
    input_.target = simulator_.world().joints().rest;
  }
  if (!task.tau.read(row, step, input_.tau)) return BadInput::kTau;
  if (!task.target.read(row, step, input_.target)) return BadInput::kTarget;
  if (!task.target_velocity.read(row, step, input_.target_velocity)) return BadInput::kTargetVelocity;
  for (std::size_t k = 0; k < task.wrenches.size(); ++k) {
    const Series& given = task.wrenches[k].series;
    ExternalWrench& wrench = input_.wrenches[k];
    for (Index i = 0; i < 3; ++i) {
      wrench.force(i) = given.at(row, step, i);
      wrench.torque(i) = given.at(row, step, 3 + i);
    }
    if (!wrench.force.allFinite() || !wrench.torque.allFinite()) return BadInput::kWrench;
  }
  if (!task.policy) return BadInput::kNone;
  task.policy->act(simulator_, row, step, *memory_, input_);
  const bool finite = input_.tau.allFinite() && input_.target.allFinite() && input_.target_velocity.allFinite();
  return finite ? BadInput::kNone : BadInput::kAction;
}

void RowRunner::write(const RolloutTask& task, Index row, Index record, RolloutRecords& records) const {
  const World& world = simulator_.world();
  const State& state = simulator_.state();
  const auto copy = [&](double* all, const VectorXd& values) {
    if (all) VectorXd::Map(place(all, task, row, record, values.size()), values.size()) = values;
  };
  copy(records.q, state.q);
  copy(records.v, state.v);
  copy(records.torques, torques_);
  if (records.actions) copy(records.actions, memory_->action);
  if (records.t) *place(records.t, task, row, record, 1) = state.t;
  const Index contacts = contacts_of(world), size = world.packed_size();
  if (records.states) world.pack(state, VectorXd::Map(place(records.states, task, row, record, size), size));
  if (records.forces) {
    double* to = place(records.forces, task, row, record, 3 * contacts);
    for (std::size_t i = 0; i < world.contacts().size(); ++i, to += 3) {
      Eigen::Vector3d::Map(to) = side(world, i) * simulator_.now().force(i);
    }
  }
  if (records.active) {
    bool* to = place(records.active, task, row, record, contacts);
    for (Index i = 0; i < contacts; ++i) to[i] = state.memory[static_cast<std::size_t>(i)].active();
  }
}

void RowRunner::write_nothing(const RolloutTask& task, Index row, RolloutRecords& records) const {
  const World& world = simulator_.world();
  const Index count = task.steps / task.every, contacts = contacts_of(world), size = world.packed_size();
  const auto clear = [&](double* all, Index width) {
    if (all) std::fill_n(place(all, task, row, 0, width), count * width, std::numeric_limits<double>::quiet_NaN());
  };
  clear(records.q, world.robot().nq());
  clear(records.v, world.robot().nv());
  clear(records.t, 1);
  clear(records.states, size);
  clear(records.forces, 3 * contacts);
  clear(records.torques, world.robot().nv());
  if (task.policy) clear(records.actions, task.policy->size());
  if (records.active) std::fill_n(place(records.active, task, row, 0, contacts), count * contacts, false);
  VectorXd::Map(records.end + row * size, size) = start_;
}

void RowRunner::finish(Index row, RolloutRecords& records) const {
  const World& world = simulator_.world();
  const Index size = world.packed_size();
  world.pack(simulator_.state(), VectorXd::Map(records.end + row * size, size));
  if (records.events) {
    std::vector<double>& table = (*records.events)[static_cast<std::size_t>(row)];
    for (const Event& event : simulator_.events()) {
      const auto numbers = event_row(world, event);
      table.insert(table.end(), numbers.begin(), numbers.end());
    }
  }
  if (const long overflows = simulator_.statistics().overflows; overflows > 0) {
    const std::lock_guard lock(records.mutex);
    records.overflows += overflows;
  }
}

}  // namespace exposim
