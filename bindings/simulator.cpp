#include "exposim/simulator.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <variant>

#include "bindings.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/thresholds.hpp"
#include "given.hpp"
#include "readings.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using NumberArray = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using States = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// A copy: once the interpreter lock is released, others may write to the array.
VectorXd copy_of(const NumberArray& array) {
  return Eigen::Map<const VectorXd>(array.data(), static_cast<Index>(array.size()));
}

std::optional<VectorXd> copy_of(const std::optional<NumberArray>& array) {
  return array ? std::optional(copy_of(*array)) : std::nullopt;
}

constexpr int kNotTaken = -1;  // what was given is not what a step takes: nothing was done
constexpr int kOverflow = 1;   // a touch was left out for want of a slot, now or before
constexpr int kSaturated = 2;  // in the last step a motor was asked for more than it has

/// What steps came to: how they diverged; otherwise kNotTaken, or a sum of the others.
using Outcome = std::variant<int, Divergence>;

/// Of steps that were all good.
int found_by(const Simulator& simulator) {
  const std::vector<unsigned char>& at_bound = simulator.last_step().motors.at_bound;
  const bool saturated = std::any_of(at_bound.begin(), at_bound.end(), [](unsigned char each) { return each != 0; });
  return (simulator.statistics().overflows > 0 ? kOverflow : 0) + (saturated ? kSaturated : 0);
}

/// Takes steps until they are all taken, one diverges, or it is time to look for signals.
Outcome steps_between_signals(Simulator& simulator, const Input& input, bool stops, long long& left) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kBetweenSignals{20};
  constexpr long long kBetweenGlances = 10;  // at the clock
  const bool looks = left > kBetweenGlances;
  const Clock::time_point end = looks ? Clock::now() + kBetweenSignals : Clock::time_point::max();
  while (left > 0 && !(stops && simulator.divergence())) {
    const auto count = static_cast<int>(std::min(kBetweenGlances, left));
    if (!simulator.step(input, count)) return *simulator.divergence();
    left -= count;
    if (looks && Clock::now() >= end) break;
  }
  if (stops && simulator.divergence()) left = 0;
  return found_by(simulator);
}

Outcome step(SharedSimulator& self, nb::handle tau, nb::handle n, std::vector<ExternalWrench> wrenches,
             nb::handle target, nb::handle target_velocity, bool continues) {
  long long left = 0;
  Input input = std::move(self.spare);
  if (!PyLong_CheckExact(n.ptr()) || !nb::try_cast(n, left) || left < 1 ||
      !read_input(self.simulator.world(), tau, target, target_velocity, std::move(wrenches), input)) {
    return kNotTaken;
  }
  while (true) {
    Outcome outcome = self.alone([&](Simulator& simulator) {
      if (!continues) simulator.forget_events();
      continues = true;
      return steps_between_signals(simulator, input, self.stops, left);
    });
    // The interpreter runs its signal handlers here: a long run can be interrupted, between two steps.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (left == 0 || std::holds_alternative<Divergence>(outcome)) {
      self.spare = std::move(input);
      return outcome;
    }
    self.let_others_look();
  }
}

/// What steps came to that were chosen by their error, what to go on with, and what they were.
std::tuple<Outcome, double, Advanced> advance(SharedSimulator& self, nb::handle tau, double until,
                                              const StepChoice& choice, double h, long most,
                                              std::vector<ExternalWrench> wrenches, nb::handle target,
                                              nb::handle target_velocity) {
  Advanced advanced;
  Input input;
  if (!read_input(self.simulator.world(), tau, target, target_velocity, std::move(wrenches), input)) {
    return {kNotTaken, h, advanced};
  }
  constexpr long kBetweenSignals = 50;  // steps
  while (true) {
    const long before = advanced.steps;
    Outcome outcome = self.alone([&](Simulator& simulator) -> Outcome {
      if (self.stops && simulator.divergence()) return 0;
      const long now = std::min(kBetweenSignals, most - advanced.steps);
      if (!simulator.advance(input, until, choice, now, h, advanced)) return *simulator.divergence();
      return found_by(simulator);
    });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const bool over = advanced.steps == before || advanced.steps >= most;
    if (over || std::holds_alternative<Divergence>(outcome)) return {std::move(outcome), h, advanced};
    self.let_others_look();
  }
}

/// @return whether q and v are what a reset takes; nothing is changed otherwise.
bool reset(SharedSimulator& self, nb::handle given_q, nb::handle given_v) {
  const Robot& robot = self.simulator.world().robot();
  const Numbers numbers_q(given_q), numbers_v(given_v);
  if (!numbers_q || !numbers_v) return false;
  VectorXd q = *numbers_q, v = *numbers_v;
  if (q.size() != robot.nq() || v.size() != robot.nv() || !q.allFinite() || !v.allFinite()) return false;
  if (!is_normalised(robot, q, thresholds::kQuaternionTolerance)) return false;
  self.alone([&](Simulator& simulator) {
    normalise(robot, q);
    simulator.reset(q, v);
  });
  return true;
}

bool set_state(SharedSimulator& self, const NumberArray& given) {
  const VectorXd x = copy_of(given);
  return self.alone([&](Simulator& simulator) { return simulator.set_state(x); });
}

VectorXd packed_state(SharedSimulator& self) {
  return self.locked([](const Simulator& simulator) {
    VectorXd x(simulator.world().packed_size());
    simulator.world().pack(simulator.state(), x);
    return x;
  });
}

/// Seconds and Newton iterations of one step from each of the states.
std::pair<std::vector<double>, std::vector<int>> time_steps(SharedSimulator& self, const States& states,
                                                            const std::optional<NumberArray>& tau) {
  using Clock = std::chrono::steady_clock;
  const Input input = make_input(self.simulator.world(), copy_of(tau), {});
  const RowMatrixXd rows = Eigen::Map<const RowMatrixXd>(states.data(), static_cast<Index>(states.shape(0)),
                                                         static_cast<Index>(states.shape(1)));
  return self.alone([&](Simulator& simulator) {
    std::pair<std::vector<double>, std::vector<int>> result;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (!simulator.set_state(rows.row(i).transpose())) throw std::invalid_argument("a state is of another world");
      const Clock::time_point start = Clock::now();
      simulator.step(input, 1);
      result.first.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      result.second.push_back(simulator.last_step().newton.iterations);
    }
    return result;
  });
}

void bind_reports(nb::module_& m) {
  nb::class_<Divergence>(m, "Divergence")
      .def(
          "__init__",
          [](Divergence* self, double t, long step, const VectorXd& q, const VectorXd& v, const VectorXd& start) {
            new (self) Divergence{t, step, q, v, start};
          },
          nb::arg("t"), nb::arg("step"), nb::arg("q"), nb::arg("v"), nb::arg("start"))
      .def_ro("t", &Divergence::t)
      .def_ro("step", &Divergence::step)
      .def_prop_ro("q", [](const Divergence& self) { return VectorXd(self.q); })
      .def_prop_ro("v", [](const Divergence& self) { return VectorXd(self.v); })
      .def_prop_ro("start", [](const Divergence& self) { return VectorXd(self.start); });

  nb::class_<NewtonInfo>(m, "NewtonInfo")
      .def_ro("iterations", &NewtonInfo::iterations)
      .def_ro("converged", &NewtonInfo::converged)
      .def_ro("residual", &NewtonInfo::residual);

  nb::class_<TransitionInfo>(m, "TransitionInfo")
      .def_ro("resolved", &TransitionInfo::resolved)
      .def_ro("micro_steps", &TransitionInfo::micro_steps)
      .def_ro("events", &TransitionInfo::events)
      .def_ro("limited", &TransitionInfo::limited);

  nb::class_<StepChoice>(m, "StepChoice")
      .def(
          "__init__",
          [](StepChoice* self, double accuracy, double smallest, double largest) {
            new (self) StepChoice{accuracy, smallest, largest};
          },
          nb::arg("accuracy"), nb::arg("smallest"), nb::arg("largest"));

  nb::class_<Advanced>(m, "Advanced")
      .def_ro("steps", &Advanced::steps)
      .def_ro("rejected", &Advanced::rejected)
      .def_ro("smallest", &Advanced::smallest)
      .def_ro("largest", &Advanced::largest)
      .def_ro("error", &Advanced::error);

  nb::class_<PartsInfo>(m, "PartsInfo")
      .def_ro("count", &PartsInfo::count)
      .def_ro("redone", &PartsInfo::redone)
      .def_ro("turn", &PartsInfo::turn);

  nb::class_<StepStatistics>(m, "StepStatistics")
      .def_ro("steps", &StepStatistics::steps)
      .def_ro("iterations", &StepStatistics::iterations)
      .def_ro("max_iterations", &StepStatistics::max_iterations)
      .def_ro("not_converged", &StepStatistics::not_converged)
      .def_ro("resolved", &StepStatistics::resolved)
      .def_ro("limited", &StepStatistics::limited)
      .def_ro("parts", &StepStatistics::parts)
      .def_ro("overflows", &StepStatistics::overflows);
}

/// @param type of the package's own error; found beforehand, since at exit nothing can be imported.
void translate_busy(const std::exception_ptr& thrown, void* type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Busy& error) {
    PyErr_SetString(static_cast<PyObject*>(type), error.what());
  }
}

}  // namespace

void bind_simulator(nb::module_& m) {
  bind_reports(m);
  nb::object busy = nb::module_::import_("exposim.errors").attr("SimulatorBusy");
  nb::register_exception_translator(&translate_busy, busy.release().ptr());
  m.attr("OVERFLOW") = kOverflow;
  m.attr("SATURATED") = kSaturated;
  m.attr("MAX_VELOCITY") = thresholds::kMaxVelocity;
  m.attr("MIN_STEP") = thresholds::kMinStep;
  m.attr("QUATERNION_TOLERANCE") = thresholds::kQuaternionTolerance;
  nb::class_<SharedSimulator> simulator(m, "Simulator");
  bind_readings(simulator);
  simulator
      .def(nb::init<std::shared_ptr<World>, std::shared_ptr<Integrator>, double, bool>(), nb::arg("world"),
           nb::arg("integrator"), nb::arg("dt"), nb::arg("stops") = false)
      .def("step", &step, nb::arg("tau").none(), nb::arg("n").none(), nb::arg("wrenches"),
           nb::arg("target").none() = nb::none(), nb::arg("target_velocity").none() = nb::none(),
           nb::arg("continues") = false)
      .def("forget_events",
           [](SharedSimulator& self) { self.alone([](Simulator& simulator) { simulator.forget_events(); }); })
      .def("advance", &advance, nb::arg("tau").none(), nb::arg("until"), nb::arg("choice"), nb::arg("h"),
           nb::arg("most"), nb::arg("wrenches"), nb::arg("target").none() = nb::none(),
           nb::arg("target_velocity").none() = nb::none())
      .def("reset", &reset, nb::arg("q").none(), nb::arg("v").none())
      .def("set_state", &set_state, nb::arg("x"))
      .def(
          "plus",
          [](SharedSimulator& self, const VectorXd& x, const VectorXd& dx) {
            if (dx.size() != self.simulator.world().tangent_size())
              throw std::invalid_argument("dx has the wrong size");
            return self.alone([&](Simulator& simulator) {
              VectorXd moved;
              return simulator.plus(x, dx, moved) ? std::optional(moved) : std::nullopt;
            });
          },
          nb::arg("x"), nb::arg("dx"))
      .def_prop_ro("state", &packed_state)
      .def("time_steps", &time_steps, nb::arg("states"), nb::arg("tau").none())
      .def(
          "predict_forces",
          [](SharedSimulator& self, const VectorXd& times, const std::optional<NumberArray>& tau,
             std::vector<ExternalWrench> wrenches) {
            const Input input = make_input(self.simulator.world(), copy_of(tau), std::move(wrenches));
            return self.alone([&](Simulator& simulator) { return simulator.predict_forces(times, input); });
          },
          nb::arg("times"), nb::arg("tau").none(), nb::arg("wrenches"))
      .def("contact_matrix",
           [](SharedSimulator& self) {
             return self.alone([](Simulator& simulator) {
               Eigen::MatrixXd A, b_x0;
               simulator.stiff_system(make_input(simulator.world(), {}, {})).full_system(A, b_x0);
               return A;
             });
           })
      .def(
          "try_kernel",
          [](SharedSimulator& self, const ContactKernel& kernel) {
            return self.alone([&](Simulator& simulator) {
              ForceAverages averages(kernel);
              averages.compute(simulator.stiff_system(make_input(simulator.world(), {}, {})), simulator.dt());
              return averages.info();
            });
          },
          nb::arg("kernel"))
      .def("enable_profiler",
           [](SharedSimulator& self, bool on) {
             self.alone([&](Simulator& simulator) { simulator.workspace().profiler.enable(on); });
           })
      .def_prop_ro("profile", reader([](Simulator& simulator) {
                     std::vector<std::pair<long, double>> entries;
                     for (const Stage stage : {Stage::kContacts, Stage::kTerms, Stage::kKernel, Stage::kIntegration}) {
                       const Profiler::Entry& entry = simulator.workspace().profiler.entry(stage);
                       entries.emplace_back(entry.count, std::chrono::duration<double>(entry.total).count());
                     }
                     return entries;
                   }))
      .def("set_divergence",
           [](SharedSimulator& self, const Divergence& divergence) {
             self.alone([&](Simulator& simulator) { simulator.set_divergence(divergence); });
           })
      .def_prop_ro("divergence", reader([](const Simulator& simulator) { return simulator.divergence(); }));
}

}  // namespace exposim
