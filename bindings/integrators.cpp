#include <nanobind/stl/shared_ptr.h>

#include <memory>

#include "bindings.hpp"
#include "exposim/integrators/explicit_euler.hpp"
#include "exposim/integrators/expo.hpp"
#include "exposim/integrators/implicit_euler.hpp"
#include "exposim/integrators/paper_expo.hpp"
#include "exposim/integrators/runge_kutta4.hpp"
#include "exposim/integrators/semi_implicit_euler.hpp"
#include "exposim/thresholds.hpp"

namespace nb = nanobind;

namespace exposim {

void bind_integrators(nb::module_& m) {
  nb::enum_<PaperExpo::PositionUpdate>(m, "PositionUpdate")
      .value("DOUBLE_AVERAGE", PaperExpo::PositionUpdate::kDoubleAverage)
      .value("SINGLE_AVERAGE", PaperExpo::PositionUpdate::kSingleAverage);
  nb::enum_<AnchorRule>(m, "AnchorRule")
      .value("SURFACE", AnchorRule::kSurface)
      .value("DETECTED", AnchorRule::kDetected);
  nb::enum_<Projection>(m, "Projection")
      .value("HORIZONTAL", Projection::kHorizontal)
      .value("ORTHOGONAL", Projection::kOrthogonal);

  m.attr("MICRO_STEPS") = thresholds::kMicroSteps;
  m.attr("MICRO_TOLERANCE") = thresholds::kMicroTolerance;
  m.attr("MAX_ACCELERATION") = thresholds::kMaxAcceleration;
  m.attr("MAX_TURN") = thresholds::kMaxTurn;
  m.attr("MOST_PARTS") = thresholds::kMostParts;
  m.attr("KERNEL_TOLERANCE") = thresholds::kKernelTolerance;

  nb::class_<Integrator>(m, "Integrator")
      .def(
          "contact_law",
          [](const Integrator& self, const Material& material) {
            return std::const_pointer_cast<Law>(self.contact_law(material));
          },
          nb::arg("material"));
  nb::class_<Expo, Integrator>(m, "Expo").def(
      "__init__",
      [](Expo* self, int order, double tolerance, int micro_steps, double micro_tolerance, double max_acceleration,
         double max_turn) {
        new (self) Expo({order, tolerance, micro_steps, micro_tolerance, max_acceleration, max_turn});
      },
      nb::arg("order"), nb::arg("tolerance"), nb::arg("micro_steps"), nb::arg("micro_tolerance"),
      nb::arg("max_acceleration"), nb::arg("max_turn"));
  nb::class_<PaperExpo, Integrator>(m, "PaperExpo")
      .def(
          "__init__",
          [](PaperExpo* self, const ContactKernel& kernel, PaperExpo::PositionUpdate position_update,
             AnchorRule anchor_rule,
             Projection projection) { new (self) PaperExpo({kernel, position_update, anchor_rule, projection}); },
          nb::arg("kernel"), nb::arg("position_update"), nb::arg("anchor_rule"), nb::arg("projection"));
  nb::class_<ExplicitEuler, Integrator>(m, "ExplicitEuler").def(nb::init<>());
  nb::class_<SemiImplicitEuler, Integrator>(m, "SemiImplicitEuler").def(nb::init<>());
  nb::class_<RungeKutta4, Integrator>(m, "RungeKutta4").def(nb::init<>());
  nb::class_<ImplicitEuler, Integrator>(m, "ImplicitEuler")
      .def(nb::init<double, int>(), nb::arg("tolerance"), nb::arg("max_iterations"));
}

}  // namespace exposim
