#include "exposim/kernels/integrals.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings.hpp"
#include "exposim/kernels/balance.hpp"

namespace nb = nanobind;

namespace exposim {

void bind_kernels(nb::module_& m) {
  nb::enum_<KernelOptions::Method>(m, "KernelMethod")
      .value("EXPM", KernelOptions::Method::kExpm)
      .value("PADE", KernelOptions::Method::kPade);

  nb::class_<KernelOptions>(m, "KernelOptions")
      .def(
          "__init__",
          [](KernelOptions* self, KernelOptions::Method method, int degree, bool balance) {
            new (self) KernelOptions{method, degree, balance};
          },
          nb::arg("method"), nb::arg("degree"), nb::arg("balance"));

  nb::class_<KernelInfo>(m, "KernelInfo")
      .def_ro("degree", &KernelInfo::degree)
      .def_ro("squarings", &KernelInfo::squarings)
      .def_ro("products", &KernelInfo::products);

  m.def(
      "integrals",
      [](const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& x0, double dt,
         const KernelOptions& options) {
        IntegralKernel kernel(options);
        kernel.compute(A, b, x0, dt);
        return std::tuple<Eigen::VectorXd, Eigen::VectorXd, KernelInfo>(kernel.x_int(), kernel.x_int2(), kernel.info());
      },
      nb::arg("A"), nb::arg("b"), nb::arg("x0"), nb::arg("dt"), nb::arg("options"));

  m.def(
      "balance",
      [](Eigen::MatrixXd A) {
        Eigen::VectorXd scaling(A.rows());
        balance(A, scaling);
        return std::tuple<Eigen::MatrixXd, Eigen::VectorXd>(std::move(A), std::move(scaling));
      },
      nb::arg("A"));
}

}  // namespace exposim
