#include <nanobind/nanobind.h>

#include "cushion.hpp"
#include "heun.hpp"

namespace nb = nanobind;

NB_MODULE(_extending, m) {
  nb::module_::import_("exposim._core");  // has the types that these derive from
  nb::class_<exposim::Cushion, exposim::Law>(m, "Cushion").def(nb::init<double, double>(), nb::arg("K"), nb::arg("B"));
  nb::class_<exposim::Heun, exposim::Integrator>(m, "Heun").def(nb::init<>());
}
