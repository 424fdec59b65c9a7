#include "exposim/derivatives/step_derivatives.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings.hpp"
#include "derivative_request.hpp"
#include "exposim/readings.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::VectorXd;

std::optional<StepDerivatives> differentiate(SharedSimulator& self, const std::vector<ParameterTuple>& parameters,
                                             bool wrenches, bool exact, bool differences) {
  const DerivativeRequest request = request_of(self.simulator.world(), parameters, wrenches, exact, differences);
  return self.alone([&](Simulator& simulator) {
    StepDerivatives out;
    return simulator.differentiate(request, out) ? std::optional(std::move(out)) : std::nullopt;
  });
}

/// What came of it (0: done, 1: no state, 2: diverged), where the step led to, derivatives.
std::tuple<int, VectorXd, StepDerivatives> linearize(SharedSimulator& self, const VectorXd& x,
                                                     const std::optional<VectorXd>& tau, double dt,
                                                     std::vector<ExternalWrench> forces,
                                                     const std::optional<VectorXd>& target,
                                                     const std::optional<VectorXd>& target_velocity,
                                                     const std::vector<ParameterTuple>& parameters, bool wrenches,
                                                     bool exact, bool differences) {
  const World& world = self.simulator.world();
  if (x.size() != world.packed_size()) throw std::invalid_argument("not a state of it");
  const DerivativeRequest request = request_of(world, parameters, wrenches, exact, differences);
  Input input = make_input(world, tau, std::move(forces));
  if (target) input.target = *target;
  if (target_velocity) input.target_velocity = *target_velocity;
  if (input.target.size() != world.robot().nq() || input.target_velocity.size() != world.robot().nv()) {
    throw std::invalid_argument("a target has the wrong size");
  }
  return self.alone([&](Simulator& simulator) {
    StepDerivatives out;
    VectorXd next = x;
    const auto came_of_it = simulator.linearize(x, input, dt, request, out, next);
    return std::tuple(static_cast<int>(came_of_it), std::move(next), std::move(out));
  });
}

}  // namespace

void bind_derivatives(nb::module_& m) {
  nb::class_<Grazing>(m, "Grazing")
      .def_ro("t", &Grazing::t)
      .def_prop_ro(
          "strand",
          [](const Grazing& self) { return self.strand == Grazing::kNoStrand ? -1 : static_cast<long>(self.strand); })
      .def_prop_ro("kind", [](const Grazing& self) { return static_cast<int>(self.kind); });
  nb::class_<StepDerivatives>(m, "StepDerivatives")
      .def_prop_ro("x", [](const StepDerivatives& self) { return RowMatrixXd(self.x()); })
      .def_prop_ro("force", [](const StepDerivatives& self) { return RowMatrixXd(self.force()); })
      .def_prop_ro("wrench", [](const StepDerivatives& self) { return RowMatrixXd(self.wrench()); })
      .def_prop_ro("parameters", [](const StepDerivatives& self) { return RowMatrixXd(self.parameters()); })
      .def_ro("grazing", &StepDerivatives::grazing)
      .def_ro("differences", &StepDerivatives::differences);
  m.def(
      "events_of",
      [](const SharedSimulator& self, const StepDerivatives& found) {
        Eigen::Matrix<double, Eigen::Dynamic, kEventSize, Eigen::RowMajor> table(found.events.size(), kEventSize);
        for (std::size_t k = 0; k < found.events.size(); ++k) {
          table.row(static_cast<Eigen::Index>(k)) = event_row(self.simulator.world(), found.events[k]);
        }
        return table;
      },
      nb::arg("simulator"), nb::arg("found"));
  m.def("differentiate", &differentiate, nb::arg("simulator"), nb::arg("parameters"), nb::arg("wrenches"),
        nb::arg("exact"), nb::arg("differences"));
  m.def("linearize", &linearize, nb::arg("simulator"), nb::arg("x"), nb::arg("tau").none(), nb::arg("dt"),
        nb::arg("forces"), nb::arg("target").none(), nb::arg("target_velocity").none(), nb::arg("parameters"),
        nb::arg("wrenches"), nb::arg("exact"), nb::arg("differences"));
}

}  // namespace exposim
