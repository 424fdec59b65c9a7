#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "exposim/geometry/box.hpp"
#include "exposim/geometry/capsule.hpp"
#include "exposim/geometry/cylinder.hpp"
#include "exposim/geometry/distance_grid.hpp"
#include "exposim/geometry/half_space.hpp"
#include "exposim/geometry/height_field.hpp"
#include "exposim/geometry/placed.hpp"
#include "exposim/geometry/profile.hpp"
#include "exposim/geometry/sphere.hpp"
#include "exposim/geometry/triangles.hpp"
#include "python_surface.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Points = PythonSurface::Points;

VectorXd distances(const Surface& self, const Points& p) {
  VectorXd result(p.rows());
  for (Eigen::Index i = 0; i < p.rows(); ++i) result(i) = self.distance(p.row(i));
  return result;
}

Points normals(const Surface& self, const Points& p) {
  Points result(p.rows(), 3);
  for (Eigen::Index i = 0; i < p.rows(); ++i) result.row(i) = self.query(p.row(i)).n;
  return result;
}

VectorXd heights_at(const HeightField& self, const Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>& xy) {
  VectorXd result(xy.rows());
  for (Eigen::Index i = 0; i < xy.rows(); ++i) result(i) = self.height(xy(i, 0), xy(i, 1));
  return result;
}

std::shared_ptr<DistanceGrid> make_grid(const VectorXd& coefficients, const Eigen::Vector3i& size, const Vector3d& low,
                                        double spacing, std::shared_ptr<Surface> around) {
  if (size.minCoeff() < 4 || coefficients.size() != Eigen::Index{size.x()} * size.y() * size.z()) {
    throw std::invalid_argument("a grid of distances has another size");
  }
  return std::make_shared<DistanceGrid>(std::vector<double>(coefficients.begin(), coefficients.end()), size, low,
                                        spacing, std::move(around));
}

}  // namespace

void bind_surfaces(nb::module_& m) {
  nb::class_<Surface>(m, "Surface")
      .def(
          "distance", [](const Surface& self, const Vector3d& p) { return self.distance(p); }, nb::arg("p"))
      .def(
          "normal", [](const Surface& self, const Vector3d& p) { return Vector3d(self.query(p).n); }, nb::arg("p"))
      .def(
          "curvature", [](const Surface& self, const Vector3d& p) { return Matrix3d(self.query(p).curvature); },
          nb::arg("p"))
      .def(
          "gap", [](const Surface& self, const Vector3d& p) { return self.query(p).phi; }, nb::arg("p"),
          "That of a whole query.")
      .def("distances", &distances, nb::arg("p"))
      .def("normals", &normals, nb::arg("p"))
      .def_prop_ro(
          "bounds",
          [](const Surface& self) {
            const Ball ball = self.bounds();
            return std::pair(ball.centre, ball.radius);
          },
          "Centre and radius of a ball that holds all of its inside.");
  nb::class_<HalfSpace, Surface>(m, "HalfSpace")
      .def(nb::init<const Vector3d&, const Vector3d&>(), nb::arg("point"), nb::arg("normal"));
  nb::class_<Box, Surface>(m, "Box").def(nb::init<const Vector3d&, double>(), nb::arg("half_size"),
                                         nb::arg("rounding"));
  nb::class_<Sphere, Surface>(m, "Sphere").def(nb::init<double>(), nb::arg("radius"));
  nb::class_<Capsule, Surface>(m, "Capsule").def(nb::init<double, double>(), nb::arg("radius"), nb::arg("half_length"));
  nb::class_<Cylinder, Surface>(m, "Cylinder")
      .def(nb::init<double, double, double>(), nb::arg("radius"), nb::arg("half_length"), nb::arg("rounding"));
  nb::class_<HeightField, Surface>(m, "HeightField")
      .def(nb::init<const HeightField::Heights&, double, const Eigen::Vector2d&>(), nb::arg("heights"),
           nb::arg("spacing"), nb::arg("origin"))
      .def("heights_at", &heights_at, nb::arg("xy"));
  nb::class_<Profile, Surface>(m, "Profile")
      .def(nb::init<const Profile::Corners&, double>(), nb::arg("corners"), nb::arg("rounding"));
  nb::class_<Triangles, Surface>(m, "Triangles")
      .def(nb::init<const Triangles::Vertices&, const Triangles::Faces&>(), nb::arg("vertices"), nb::arg("faces"));
  nb::class_<DistanceGrid, Surface>(m, "DistanceGrid")
      .def(nb::new_(&make_grid), nb::arg("coefficients"), nb::arg("size"), nb::arg("low"), nb::arg("spacing"),
           nb::arg("around"));
  nb::class_<Placed, Surface>(m, "Placed")
      .def(nb::init<std::shared_ptr<Surface>, const Matrix3d&, const Vector3d&>(), nb::arg("surface"),
           nb::arg("rotation"), nb::arg("position"));
  nb::class_<PythonSurface, Surface>(m, "PythonSurface")
      .def(nb::init<nb::object, nb::object>(), nb::arg("distance"), nb::arg("normal"));
}

}  // namespace exposim
