#include "exposim/kernels/integrals.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/kernels/balance.hpp"
#include "exposim/kernels/oscillator.hpp"
#include "exposim/kernels/oscillator_pairs.hpp"

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
      .def_ro("products", &KernelInfo::products)
      .def_ro("terms", &KernelInfo::terms)
      .def_ro("error_bound", &KernelInfo::error_bound);

  nb::enum_<ContactKernel::Method>(m, "ContactMethod")
      .value("AUTO", ContactKernel::Method::kAuto)
      .value("MODAL", ContactKernel::Method::kModal)
      .value("DENSE", ContactKernel::Method::kDense);

  nb::class_<ContactKernel>(m, "ContactKernel")
      .def(
          "__init__",
          [](ContactKernel* self, ContactKernel::Method method, double tolerance, const KernelOptions& dense) {
            new (self) ContactKernel{method, tolerance, dense};
          },
          nb::arg("method"), nb::arg("tolerance"), nb::arg("dense"));

  m.def(
      "contact_integrals",
      [](const Eigen::MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
         const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0, double dt, const ContactKernel& kernel) {
        ForceAverages integrals(kernel);
        integrals.compute(StiffSystem(Upsilon, K, B, ddp_bar, x0), dt);
        return std::tuple<Eigen::VectorXd, Eigen::VectorXd, KernelInfo>(integrals.x_int(), integrals.x_int2(),
                                                                        integrals.info());
      },
      nb::arg("Upsilon"), nb::arg("K"), nb::arg("B"), nb::arg("ddp_bar"), nb::arg("x0"), nb::arg("dt"),
      nb::arg("kernel"));

  m.def(
      "oscillator_integrals",
      [](double omega, double c, double t) {
        const OscillatorIntegrals g = oscillator_integrals(omega, c, t);
        return std::make_tuple(g.dG, g.G, g.G1, g.G2, g.G3);
      },
      nb::arg("omega"), nb::arg("c"), nb::arg("t"));

  m.def(
      "oscillator_pairs",
      [](const Eigen::VectorXd& omega, double c, double t) {
        OscillatorPairs pairs;
        pairs.compute(omega, c, t);
        std::vector<RowMatrixXd> E(4, RowMatrixXd(omega.size(), omega.size()));
        for (Eigen::Index n = 0; n < 4; ++n) {
          for (Eigen::Index k = 0; k < omega.size(); ++k) {
            E[n].row(k) = Eigen::Map<const Eigen::RowVectorXd>(pairs.E(n, k), omega.size());
          }
        }
        return E;
      },
      nb::arg("omega"), nb::arg("c"), nb::arg("t"));

  m.def(
      "integrals",
      [](const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::VectorXd& x0, double dt,
         const KernelOptions& options) {
        IntegralKernel kernel(options);
        Eigen::MatrixXd b_x0(b.size(), 2);
        b_x0 << b, x0;
        kernel.compute(A, b_x0, dt);
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
