#include "exposim/rollout/rollout.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "derivative_request.hpp"
#include "exposim/readings.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Numbers = nb::ndarray<const double, nb::ndim<3>, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using EventTable = Eigen::Matrix<double, Eigen::Dynamic, kEventSize, Eigen::RowMajor>;
using Arrays = nb::typed<nb::dict, nb::str, nb::any>;
using Worlds = std::vector<std::shared_ptr<World>>;

/// Of an array that outlives the call: its memory is read as it is.
Series series_of(const Numbers& array) { return {array.data(), array.stride(0), array.stride(1), array.stride(2)}; }
Series series_of(const Rows& array) { return {array.data(), array.stride(0), 0, array.stride(1)}; }

void refuse_other_sizes(const Numbers& array, Index rows, Index steps, Index entries) {
  if (static_cast<Index>(array.shape(0)) != rows || static_cast<Index>(array.shape(1)) != steps ||
      static_cast<Index>(array.shape(2)) < entries) {
    throw std::invalid_argument("an input of a rollout has another size");
  }
}

/// An array, and which of its entries belongs where.
using ChannelTuple = std::tuple<Numbers, std::vector<std::pair<Index, Index>>>;

Channel channel_of(const std::optional<ChannelTuple>& given, const RolloutTask& task, Index size) {
  if (!given) return {};
  const auto& [array, entries] = *given;
  refuse_other_sizes(array, task.rows, task.steps, 0);
  for (const auto& [from, to] : entries) {
    if (from < 0 || from >= static_cast<Index>(array.shape(2)) || to < 0 || to >= size) {
      throw std::invalid_argument("an entry of a rollout's input is not there");
    }
  }
  return {series_of(array), entries};
}

/// Joint, position in its frame, and (rows, steps, 6).
using WrenchTuple = std::tuple<std::size_t, Eigen::Vector3d, Numbers>;

/// What an array of that name has, if it is given.
template <typename Number>
Number* memory_of(const Arrays& arrays, const char* name, Index size) {
  if (!arrays.contains(name)) return nullptr;
  const auto array = nb::cast<nb::ndarray<Number, nb::c_contig, nb::device::cpu>>(arrays[name], false);
  if (static_cast<Index>(array.size()) != size) {
    throw std::invalid_argument("the array for " + std::string(name) + " has another size");
  }
  return array.data();
}

/// Of rows by number, those that diverged; events of every row; touches left out for want of a slot.
using Report = std::tuple<std::vector<std::pair<Index, Divergence>>, std::vector<EventTable>, long>;

class SharedRollout : public Shared<Rollout> {
 public:
  SharedRollout(std::shared_ptr<World> world, std::shared_ptr<Integrator> integrator, double dt)
      : Shared(std::make_unique<Rollout>(std::move(world), std::move(integrator), dt)) {}

  Report run(const Rows& states, Index steps, Index every, const std::optional<ChannelTuple>& tau,
             const std::optional<ChannelTuple>& target, const std::optional<ChannelTuple>& target_velocity,
             const std::vector<WrenchTuple>& wrenches, std::shared_ptr<Policy> policy,
             const std::optional<Rows>& commands, const Worlds& worlds, int threads, const Arrays& arrays,
             bool with_events, const nb::object& progress) {
    const RolloutTask task =
        task_of(states, steps, every, tau, target, target_velocity, wrenches, std::move(policy), commands, threads);
    std::vector<std::vector<double>> events(with_events ? states.shape(0) : 0);
    RolloutRecords records;
    fill(records, task, arrays);
    if (with_events) records.events = &events;
    const bool shows = !progress.is_none();
    alone([&](Rollout& rollout) {
      rollout.run(task, checked(worlds, task.rows), threads, records, look_around([&](std::int64_t done) {
                    if (shows) progress(done);
                  }));
    });
    std::vector<EventTable> tables;
    for (const std::vector<double>& each : events) {
      tables.emplace_back(
          Eigen::Map<const EventTable>(each.data(), static_cast<Index>(each.size()) / kEventSize, kEventSize));
    }
    return {std::move(records.divergences), std::move(tables), records.overflows};
  }

  void linearize(const Rows& states, const std::optional<ChannelTuple>& tau, const std::optional<ChannelTuple>& target,
                 const std::optional<ChannelTuple>& target_velocity, const std::vector<WrenchTuple>& wrenches,
                 const Worlds& worlds, int threads, double dt, const std::vector<ParameterTuple>& parameters,
                 bool exact, bool differences, const Arrays& arrays) {
    const RolloutTask task =
        task_of(states, 1, 1, tau, target, target_velocity, wrenches, nullptr, std::nullopt, threads);
    const Index n = owned().world().tangent_size(), nv = owned().world().robot().nv();
    LinearizedRows rows;
    rows.request = request_of(owned().world(), parameters, false, exact, differences);
    rows.next = memory_of<double>(arrays, "next", task.rows * owned().world().packed_size());
    rows.x = memory_of<double>(arrays, "x", task.rows * n * n);
    rows.force = memory_of<double>(arrays, "force", task.rows * n * nv);
    rows.request.forces = rows.force != nullptr;
    rows.parameters = memory_of<double>(arrays, "parameters", task.rows * n * static_cast<Index>(parameters.size()));
    rows.bad = memory_of<std::int32_t>(arrays, "bad", task.rows);
    rows.grazing = memory_of<std::int32_t>(arrays, "grazing", task.rows);
    rows.diverged = memory_of<bool>(arrays, "diverged", task.rows);
    rows.differences = memory_of<bool>(arrays, "differences", task.rows);
    if (!parameters.empty() && (!rows.parameters || !worlds.empty())) {
      throw std::invalid_argument("derivatives by parameters need an array, and one world for all rows");
    }
    if (!rows.next || !rows.x || !rows.bad || !rows.grazing || !rows.diverged || !rows.differences) {
      throw std::invalid_argument("derivatives need arrays for what they always tell");
    }
    alone([&](Rollout& rollout) {
      rollout.linearize(task, checked(worlds, task.rows), threads, dt, rows, look_around([](std::int64_t) {}));
    });
  }

  Index reset(const Rows& q, const Rows& v, const Worlds& worlds, const Arrays& arrays) {
    const World& world = owned().world();
    const auto rows = static_cast<Index>(q.shape(0));
    if (v.shape(0) != q.shape(0) || static_cast<int>(q.shape(1)) != world.robot().nq() ||
        static_cast<int>(v.shape(1)) != world.robot().nv()) {
      throw std::invalid_argument("not q and v of it");
    }
    double* end = memory_of<double>(arrays, "end", rows * world.packed_size());
    const Series qs = series_of(q), vs = series_of(v);
    return alone([&](Rollout& rollout) { return rollout.reset(rows, qs, vs, checked(worlds, rows), end); });
  }

 private:
  RolloutTask task_of(const Rows& states, Index steps, Index every, const std::optional<ChannelTuple>& tau,
                      const std::optional<ChannelTuple>& target, const std::optional<ChannelTuple>& target_velocity,
                      const std::vector<WrenchTuple>& wrenches, std::shared_ptr<Policy> policy,
                      const std::optional<Rows>& commands, int threads) {
    const World& world = owned().world();
    RolloutTask task;
    task.rows = static_cast<Index>(states.shape(0));
    task.steps = steps;
    task.every = every;
    if (threads < 1 || steps < 1 || every < 1 || steps % every != 0) throw std::invalid_argument("no such rollout");
    if (static_cast<Index>(states.shape(1)) != world.packed_size()) throw std::invalid_argument("not states of it");
    task.states = series_of(states);
    task.tau = channel_of(tau, task, world.robot().nv());
    task.target = channel_of(target, task, world.robot().nq());
    task.target_velocity = channel_of(target_velocity, task, world.robot().nv());
    for (const auto& [joint, position, array] : wrenches) {
      refuse_other_sizes(array, task.rows, task.steps, 6);
      task.wrenches.push_back({joint, position, series_of(array)});
    }
    task.policy = std::move(policy);
    if (commands) task.commands = series_of(*commands);
    return task;
  }

  /// What the calling thread does now and then: lets signal handlers run, and tells how far it is.
  template <typename Tell>
  static Rollout::Look look_around(Tell tell) {
    return [tell](std::int64_t done) {
      if (interpreter_leaves()) throw Busy("the interpreter leaves");
      with_interpreter([&] {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        tell(done);
      });
    };
  }

  std::vector<std::shared_ptr<const World>> checked(const Worlds& worlds, Index rows) {
    for (const auto& each : worlds) {
      if (each->packed_size() != owned().world().packed_size() || each->robot().nv() != owned().world().robot().nv()) {
        throw std::invalid_argument("a world has another layout");
      }
    }
    if (!worlds.empty() && static_cast<Index>(worlds.size()) != rows) throw std::invalid_argument("not one to a row");
    return {worlds.begin(), worlds.end()};
  }

  void fill(RolloutRecords& records, const RolloutTask& task, const Arrays& arrays) {
    const World& world = owned().world();
    const Index count = task.rows * (task.steps / task.every), size = world.packed_size();
    const auto contacts = static_cast<Index>(world.contacts().size());
    records.q = memory_of<double>(arrays, "q", count * world.robot().nq());
    records.v = memory_of<double>(arrays, "v", count * world.robot().nv());
    records.t = memory_of<double>(arrays, "t", count);
    records.states = memory_of<double>(arrays, "states", count * size);
    records.forces = memory_of<double>(arrays, "forces", count * contacts * 3);
    records.active = memory_of<bool>(arrays, "active", count * contacts);
    records.torques = memory_of<double>(arrays, "torques", count * world.robot().nv());
    records.actions = task.policy ? memory_of<double>(arrays, "actions", count * task.policy->size()) : nullptr;
    records.end = memory_of<double>(arrays, "end", task.rows * size);
    records.status = memory_of<std::int32_t>(arrays, "status", task.rows);
    records.bad = memory_of<std::int32_t>(arrays, "bad", task.rows);
    records.stopped_at = memory_of<std::int64_t>(arrays, "stopped_at", task.rows);
    if (!records.end || !records.status || !records.bad || !records.stopped_at) {
      throw std::invalid_argument("a rollout needs arrays for what it always tells");
    }
  }
};

}  // namespace

void bind_rollout(nb::module_& m) {
  nb::class_<SharedRollout>(m, "Rollout")
      .def(nb::init<std::shared_ptr<World>, std::shared_ptr<Integrator>, double>(), nb::arg("world"),
           nb::arg("integrator"), nb::arg("dt"))
      .def("run", &SharedRollout::run, nb::arg("states"), nb::arg("steps"), nb::arg("every"), nb::arg("tau").none(),
           nb::arg("target").none(), nb::arg("target_velocity").none(), nb::arg("wrenches"), nb::arg("policy").none(),
           nb::arg("commands").none(), nb::arg("worlds"), nb::arg("threads"), nb::arg("arrays"), nb::arg("with_events"),
           nb::arg("progress").none())
      .def("linearize", &SharedRollout::linearize, nb::arg("states"), nb::arg("tau").none(), nb::arg("target").none(),
           nb::arg("target_velocity").none(), nb::arg("wrenches"), nb::arg("worlds"), nb::arg("threads"), nb::arg("dt"),
           nb::arg("parameters"), nb::arg("exact"), nb::arg("differences"), nb::arg("arrays"))
      .def("reset", &SharedRollout::reset, nb::arg("q"), nb::arg("v"), nb::arg("worlds"), nb::arg("arrays"));
}

}  // namespace exposim
