#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "exposim/contact/contact_integrals.hpp"
#include "exposim/integrators/implicit_euler.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::VectorXd;
using RowMatrixX3d = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Flags = Eigen::Matrix<bool, Eigen::Dynamic, 1>;

using Tau = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool step(SharedSimulator& self, std::optional<Tau> tau, int n, std::vector<ExternalWrench> wrenches) {
  if (n < 1) throw std::invalid_argument("n must be at least 1");
  VectorXd given;  // a copy: once the interpreter lock is released, others may write to the array
  if (tau) given = Eigen::Map<const VectorXd>(tau->data(), static_cast<Eigen::Index>(tau->size()));

  // Between chunks the interpreter may run its signal handlers: a long run can be interrupted.
  constexpr int kChunk = 1000;
  bool good = true;
  for (int done = 0; good && done < n; done += kChunk) {
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(self.mutex);  // taken after the release, given back before the interpreter lock
      if (tau) {
        self.set_tau(given);
      } else {
        self.input.tau.setZero();
      }
      self.input.wrenches = wrenches;
      good = self.simulator.step(self.input, std::min(kChunk, n - done));
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return good;
}

/// g and ∂g/∂v⁺ of an implicit Euler step, for tests.
std::pair<VectorXd, Eigen::MatrixXd> linearise(SharedSimulator& self, const VectorXd& tau,
                                               const std::vector<ExternalWrench>& wrenches, const VectorXd& v_next) {
  const std::lock_guard lock(self.mutex);
  Simulator& simulator = self.simulator;
  auto* implicit = dynamic_cast<ImplicitEuler*>(&simulator.integrator());
  if (!implicit) throw std::invalid_argument("the integrator is not implicit");
  std::pair<VectorXd, Eigen::MatrixXd> result;
  implicit->linearise(simulator.scene(), simulator.state(), {tau, wrenches}, simulator.dt(), v_next, result.first,
                      result.second);
  simulator.scene().evaluate(simulator.state());
  return result;
}

/// Calls a reader of the simulator under its lock.
template <typename Function>
auto locked(Function function) {
  return [function](SharedSimulator& self) {
    nb::gil_scoped_release release;
    const std::lock_guard lock(self.mutex);
    return function(self.simulator);
  };
}

/// One row of three per contact.
template <typename Function>
RowMatrixX3d rows(std::size_t count, Function value) {
  RowMatrixX3d result(static_cast<Eigen::Index>(count), 3);
  for (std::size_t i = 0; i < count; ++i) result.row(static_cast<Eigen::Index>(i)) = value(i);
  return result;
}

/// One flag per contact.
Flags contact_flags(const State& state, bool ContactState::* flag) {
  Flags flags(static_cast<Eigen::Index>(state.contacts.size()));
  for (Eigen::Index i = 0; i < flags.size(); ++i) flags(i) = state.contacts[static_cast<std::size_t>(i)].*flag;
  return flags;
}

State make_state(double t, const VectorXd& q, const VectorXd& v, const Flags& active, const Flags& slipping,
                 const RowMatrixX3d& p0, const RowMatrixX3d& dp0) {
  State state{t, q, v, {}};
  for (Eigen::Index i = 0; i < active.size(); ++i) {
    state.contacts.push_back({active(i), slipping(i), p0.row(i), dp0.row(i)});
  }
  return state;
}

}  // namespace

void bind_simulator(nb::module_& m) {
  nb::class_<State>(m, "State")
      .def(
          "__init__",
          [](State* self, double t, const VectorXd& q, const VectorXd& v, const Flags& active, const Flags& slipping,
             const RowMatrixX3d& p0,
             const RowMatrixX3d& dp0) { new (self) State(make_state(t, q, v, active, slipping, p0, dp0)); },
          nb::arg("t"), nb::arg("q"), nb::arg("v"), nb::arg("active"), nb::arg("slipping"), nb::arg("p0"),
          nb::arg("dp0"))
      .def_ro("t", &State::t)
      .def_prop_ro("q", [](const State& self) { return VectorXd(self.q); })
      .def_prop_ro("v", [](const State& self) { return VectorXd(self.v); })
      .def_prop_ro("active", [](const State& self) { return contact_flags(self, &ContactState::active); })
      .def_prop_ro("slipping", [](const State& self) { return contact_flags(self, &ContactState::slipping); })
      .def_prop_ro("p0",
                   [](const State& self) {
                     return rows(self.contacts.size(), [&](std::size_t i) { return self.contacts[i].p0; });
                   })
      .def_prop_ro("dp0", [](const State& self) {
        return rows(self.contacts.size(), [&](std::size_t i) { return self.contacts[i].dp0; });
      });

  nb::class_<Divergence>(m, "Divergence")
      .def_ro("t", &Divergence::t)
      .def_ro("step", &Divergence::step)
      .def_prop_ro("q", [](const Divergence& self) { return VectorXd(self.q); })
      .def_prop_ro("v", [](const Divergence& self) { return VectorXd(self.v); });

  nb::class_<NewtonInfo>(m, "NewtonInfo")
      .def_ro("iterations", &NewtonInfo::iterations)
      .def_ro("converged", &NewtonInfo::converged)
      .def_ro("residual", &NewtonInfo::residual);

  nb::class_<TransitionInfo>(m, "TransitionInfo")
      .def_ro("resolved", &TransitionInfo::resolved)
      .def_ro("micro_steps", &TransitionInfo::micro_steps)
      .def_ro("events", &TransitionInfo::events)
      .def_ro("limited", &TransitionInfo::limited);

  nb::class_<StepStatistics>(m, "StepStatistics")
      .def_ro("steps", &StepStatistics::steps)
      .def_ro("iterations", &StepStatistics::iterations)
      .def_ro("max_iterations", &StepStatistics::max_iterations)
      .def_ro("not_converged", &StepStatistics::not_converged)
      .def_ro("resolved", &StepStatistics::resolved)
      .def_ro("limited", &StepStatistics::limited);

  nb::class_<ContactSpec>(m, "ContactSpec")
      .def(
          "__init__",
          [](ContactSpec* self, std::size_t point, std::shared_ptr<Surface> surface, const Material& material,
             std::optional<Eigen::Vector3d> anchor) {
            new (self) ContactSpec{point, std::move(surface), material, anchor};
          },
          nb::arg("point"), nb::arg("surface").none(), nb::arg("material"), nb::arg("anchor").none());

  m.attr("MAX_VELOCITY") = Simulator::kMaxVelocity;
  nb::class_<SharedSimulator>(m, "Simulator")
      .def(nb::init<std::shared_ptr<Robot>, const std::vector<ContactSpec>&, AnchorRule, Projection,
                    const IntegratorFactory&, double>(),
           nb::arg("robot"), nb::arg("contacts"), nb::arg("anchor_rule"), nb::arg("projection"), nb::arg("integrator"),
           nb::arg("dt"))
      .def("step", &step, nb::arg("tau").none(), nb::arg("n") = 1, nb::arg("wrenches") = std::vector<ExternalWrench>{})
      .def(
          "reset",
          [](SharedSimulator& self, const VectorXd& q, const VectorXd& v) {
            nb::gil_scoped_release release;
            const std::lock_guard lock(self.mutex);
            self.simulator.reset(q, v);
          },
          nb::arg("q"), nb::arg("v"))
      .def_prop_rw("state", locked([](const Simulator& simulator) { return State(simulator.state()); }),
                   [](SharedSimulator& self, const State& state) {
                     nb::gil_scoped_release release;
                     const std::lock_guard lock(self.mutex);
                     self.simulator.set_state(state);
                   })
      .def("linearise", &linearise, nb::arg("tau"), nb::arg("wrenches"), nb::arg("v_next"))
      .def(
          "predict_forces",
          [](SharedSimulator& self, const VectorXd& times, std::optional<VectorXd> tau) {
            nb::gil_scoped_release release;
            const std::lock_guard lock(self.mutex);
            if (tau) self.set_tau(*tau);
            return self.simulator.predict_forces(times, self.input);
          },
          nb::arg("times"), nb::arg("tau").none())
      .def("contact_matrix",
           [](SharedSimulator& self) {
             nb::gil_scoped_release release;
             const std::lock_guard lock(self.mutex);
             Eigen::MatrixXd A, b_x0;
             self.simulator.contact_dynamics(self.input).full_system(A, b_x0);
             return A;
           })
      .def(
          "try_kernel",
          [](SharedSimulator& self, const ContactKernel& kernel) {
            nb::gil_scoped_release release;
            const std::lock_guard lock(self.mutex);
            const ContactDynamics system = self.simulator.contact_dynamics(self.input);
            ContactIntegrals integrals(kernel);
            integrals.compute(system, self.simulator.dt());
            return integrals.info();
          },
          nb::arg("kernel"))
      .def("enable_profiler",
           [](SharedSimulator& self, bool on) {
             nb::gil_scoped_release release;
             const std::lock_guard lock(self.mutex);
             self.simulator.scene().profiler.enable(on);
           })
      .def_prop_ro("profile",
                   [](SharedSimulator& self) {
                     const std::lock_guard lock(self.mutex);
                     std::vector<std::pair<long, double>> entries;
                     for (const Stage stage : {Stage::kContacts, Stage::kTerms, Stage::kKernel, Stage::kIntegration}) {
                       const Profiler::Entry& entry = self.simulator.scene().profiler.entry(stage);
                       entries.emplace_back(entry.count, std::chrono::duration<double>(entry.total).count());
                     }
                     return entries;
                   })
      .def_prop_ro("t", locked([](const Simulator& simulator) { return simulator.state().t; }))
      .def_prop_ro("q", locked([](const Simulator& simulator) { return VectorXd(simulator.state().q); }))
      .def_prop_ro("v", locked([](const Simulator& simulator) { return VectorXd(simulator.state().v); }))
      .def_prop_ro("positions", locked([](const Simulator& simulator) {
                     return rows(simulator.contacts().size(),
                                 [&](std::size_t i) { return simulator.contacts().motion(i).p; });
                   }))
      .def_prop_ro("velocities", locked([](const Simulator& simulator) {
                     return rows(simulator.contacts().size(),
                                 [&](std::size_t i) { return simulator.contacts().motion(i).dp; });
                   }))
      .def_prop_ro("forces", locked([](const Simulator& simulator) {
                     return rows(simulator.contacts().size(),
                                 [&](std::size_t i) { return simulator.contacts().force(i); });
                   }))
      .def_prop_ro("lam_pr", locked([](const Simulator& simulator) { return RowMatrixX3d(simulator.info().lam_pr); }))
      .def_prop_ro("lam_pr2", locked([](const Simulator& simulator) { return RowMatrixX3d(simulator.info().lam_pr2); }))
      .def_prop_ro("kernel_info", locked([](const Simulator& simulator) { return simulator.info().kernel; }))
      .def_prop_ro("transition_info", locked([](const Simulator& simulator) { return simulator.info().transitions; }))
      .def_prop_ro("newton_info", locked([](const Simulator& simulator) { return simulator.info().newton; }))
      .def_prop_ro("statistics", locked([](const Simulator& simulator) { return simulator.statistics(); }))
      .def_prop_ro("divergence", locked([](const Simulator& simulator) { return simulator.divergence(); }));
}

}  // namespace exposim
