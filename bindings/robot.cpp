#include "exposim/robot/robot.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "exposim/robot/input.hpp"

namespace nb = nanobind;

namespace exposim {

void bind_robot(nb::module_& m) {
  nb::class_<ContactPoint>(m, "ContactPoint")
      .def(
          "__init__",
          [](ContactPoint* self, std::size_t joint, const Eigen::Vector3d& position, double radius) {
            new (self) ContactPoint{joint, position, radius};
          },
          nb::arg("joint"), nb::arg("position"), nb::arg("radius"));

  nb::class_<ExternalWrench>(m, "ExternalWrench")
      .def(
          "__init__",
          [](ExternalWrench* self, std::size_t joint, const Eigen::Vector3d& position, const Eigen::Vector3d& force,
             const Eigen::Vector3d& torque) { new (self) ExternalWrench{joint, position, force, torque}; },
          nb::arg("joint"), nb::arg("position"), nb::arg("force"), nb::arg("torque"));

  nb::class_<Robot>(m, "Robot")
      .def(nb::init<const std::string&, std::vector<ContactPoint>, std::vector<int>>(), nb::arg("serialized_model"),
           nb::arg("points"), nb::arg("actuated"))
      .def("with_masses", &Robot::with_masses, nb::arg("masses"));
}

}  // namespace exposim
