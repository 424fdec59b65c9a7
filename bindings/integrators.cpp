#include "bindings.hpp"
#include "exposim/integrators/explicit_euler.hpp"
#include "exposim/integrators/expo.hpp"
#include "exposim/integrators/implicit_euler.hpp"
#include "exposim/integrators/runge_kutta4.hpp"
#include "exposim/integrators/semi_implicit_euler.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

/// Makes `name(options...)` in Python the factory of T(options...).
template <typename T, typename... Options, typename... Args>
void bind_integrator(nb::module_& m, const char* name, const Args&... args) {
  m.def(
      name,
      [](Options... options) {
        return IntegratorFactory{[=]() -> std::unique_ptr<Integrator> { return std::make_unique<T>(options...); }};
      },
      args...);
}

}  // namespace

void bind_integrators(nb::module_& m) {
  nb::enum_<Expo::PositionUpdate>(m, "PositionUpdate")
      .value("DOUBLE_AVERAGE", Expo::PositionUpdate::kDoubleAverage)
      .value("SINGLE_AVERAGE", Expo::PositionUpdate::kSingleAverage);
  nb::enum_<Expo::Transitions>(m, "Transitions")
      .value("RESOLVED", Expo::Transitions::kResolved)
      .value("AVERAGED", Expo::Transitions::kAveraged);
  nb::class_<IntegratorFactory>(m, "IntegratorFactory");

  m.def(
      "expo",
      [](const ContactKernel& kernel, Expo::PositionUpdate position_update, Expo::Transitions transitions, int order) {
        const Expo::Options options{kernel, position_update, transitions, order};
        return IntegratorFactory{[=]() -> std::unique_ptr<Integrator> { return std::make_unique<Expo>(options); }};
      },
      nb::arg("kernel"), nb::arg("position_update"), nb::arg("transitions"), nb::arg("order"));
  bind_integrator<ExplicitEuler>(m, "explicit_euler");
  bind_integrator<SemiImplicitEuler>(m, "semi_implicit_euler");
  bind_integrator<RungeKutta4>(m, "runge_kutta4");
  bind_integrator<ImplicitEuler, double, int>(m, "implicit_euler", nb::arg("tolerance"), nb::arg("max_iterations"));
}

}  // namespace exposim
