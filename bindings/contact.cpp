#include <nanobind/eigen/dense.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.hpp"
#include "exposim/contact/contact_law.hpp"
#include "exposim/contact/surface.hpp"

namespace nb = nanobind;

namespace exposim {

void bind_contact(nb::module_& m) {
  nb::enum_<AnchorRule>(m, "AnchorRule")
      .value("SURFACE", AnchorRule::kSurface)
      .value("DETECTED", AnchorRule::kDetected);
  nb::enum_<Projection>(m, "Projection")
      .value("HORIZONTAL", Projection::kHorizontal)
      .value("ORTHOGONAL", Projection::kOrthogonal);

  nb::class_<Material>(m, "Material")
      .def(
          "__init__",
          [](Material* self, double K_n, double K_t, double B_n, double B_t, double mu) {
            new (self) Material{K_n, K_t, B_n, B_t, mu};
          },
          nb::arg("K_n"), nb::arg("K_t"), nb::arg("B_n"), nb::arg("B_t"), nb::arg("mu"));

  nb::class_<Surface>(m, "Surface");
  nb::class_<HalfSpace, Surface>(m, "HalfSpace")
      .def(nb::init<const Eigen::Vector3d&, const Eigen::Vector3d&>(), nb::arg("point"), nb::arg("normal"));
}

}  // namespace exposim
