#include "exposim/path.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <utility>

#include "bindings.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using RowMatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::pair<RowMatrixXd, RowMatrixXd> states(const Path& path, const VectorXd& times) {
  const Robot& robot = path.world().robot();
  std::pair<RowMatrixXd, RowMatrixXd> found{RowMatrixXd(times.size(), robot.nq()),
                                            RowMatrixXd(times.size(), robot.nv())};
  VectorXd q, v;
  for (Index i = 0; i < times.size(); ++i) {
    path.at(times(i), q, v);
    found.first.row(i) = q;
    found.second.row(i) = v;
  }
  return found;
}

/// Of the contacts, on the robot.
RowMatrixXd forces(const Path& path, const VectorXd& times) {
  const World& world = path.world();
  const auto contacts = static_cast<Index>(world.contacts().size());
  RowMatrixXd found(times.size(), 3 * contacts);
  VectorXd lam;
  for (Index i = 0; i < times.size(); ++i) {
    path.forces(times(i), lam);
    found.row(i) = lam.head(3 * contacts);
    for (Index k = 0; k < contacts; ++k) {
      if (world.is_guest(static_cast<std::size_t>(k))) found.row(i).segment<3>(3 * k) *= -1.0;
    }
  }
  return found;
}

RowMatrixXd accelerations(Path& path, const VectorXd& times) {
  RowMatrixXd found(times.size(), path.world().robot().nv());
  for (Index i = 0; i < times.size(); ++i) found.row(i) = path.acceleration(times(i));
  return found;
}

}  // namespace

void bind_path(nb::module_& m) {
  nb::class_<Path>(m, "Path")
      .def_prop_ro("start", &Path::start)
      .def_prop_ro("end", &Path::end)
      .def("states", &states, nb::arg("times"))
      .def("forces", &forces, nb::arg("times"))
      .def("accelerations", &accelerations, nb::arg("times"));
}

}  // namespace exposim
