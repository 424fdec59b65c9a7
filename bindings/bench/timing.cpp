#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <tuple>
#include <unsupported/Eigen/MatrixFunctions>
#include <utility>

#include "attaching.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/integrators/implicit_euler.hpp"
#include "resolving.hpp"
#include "rigid_body.hpp"
#include "shared_simulator.hpp"
#include "step_floor.hpp"
#include "surfaces.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Clock = std::chrono::steady_clock;

void restore(Simulator& simulator, const Eigen::VectorXd& state) {
  if (!simulator.set_state(state)) throw std::invalid_argument("a state is of another world");
}

Input at_rest(const Simulator& simulator) { return make_input(simulator.world(), {}, {}); }

/// Points of the active contacts.
std::vector<std::size_t> active_points(const Simulator& simulator) {
  std::vector<std::size_t> points;
  for (const std::size_t i : simulator.now().active) points.push_back(simulator.world().contacts()[i].point);
  return points;
}

/// Seconds of the bare Pinocchio calls of an explicit Euler and of an Expo step at each of the states.
std::pair<std::vector<double>, std::vector<double>> time_floor(SharedSimulator& self, const RowMatrixXd& states) {
  Simulator& simulator = self.simulator;
  StepFloor floor(simulator.world().robot());
  std::pair<std::vector<double>, std::vector<double>> result;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    restore(simulator, states.row(i));
    const std::vector<std::size_t> points = active_points(simulator);
    result.first.push_back(floor.time_explicit_euler(simulator.state().q, simulator.state().v, points));
    result.second.push_back(floor.time_expo(simulator.state().q, simulator.state().v, points));
  }
  return result;
}

/// Seconds of the kernel alone at each of the states, with the simulator's step.
std::vector<double> time_kernel(SharedSimulator& self, const RowMatrixXd& states, const ContactKernel& kernel) {
  ForceAverages integrals(kernel);
  std::vector<double> result;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    restore(self.simulator, states.row(i));
    const StiffSystem system = self.simulator.stiff_system(at_rest(self.simulator));
    const Clock::time_point start = Clock::now();
    integrals.compute(system, self.simulator.dt());
    result.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return result;
}

/// Largest difference of displacements and of velocities, each relative to the largest of them.
double relative_difference(const Eigen::VectorXd& found, const Eigen::VectorXd& expected) {
  double largest = 0.0;
  const Eigen::Index half = found.size() / 2;
  for (const Eigen::Index part : {Eigen::Index{0}, half}) {
    const double difference = (found - expected).segment(part, half).cwiseAbs().maxCoeff();
    largest = std::max(largest, difference / expected.segment(part, half).cwiseAbs().maxCoeff());
  }
  return largest;
}

/// Seconds of Eigen's exponential of the paper's augmented matrix at each of the states; the largest differences of the
/// closed form from it, and from our balanced exponential.
std::tuple<std::vector<double>, double, double> time_eigen_exponential(SharedSimulator& self,
                                                                       const RowMatrixXd& states) {
  ContactKernel kernel;
  kernel.method = ContactKernel::Method::kModal;
  ForceAverages modal(kernel);
  IntegralKernel balanced{KernelOptions{}};
  std::tuple<std::vector<double>, double, double> result{{}, 0.0, 0.0};
  auto& [seconds, from_eigen, from_balanced] = result;
  const double dt = self.simulator.dt();
  Eigen::MatrixXd A, b_x0;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    restore(self.simulator, states.row(i));
    const StiffSystem system = self.simulator.stiff_system(at_rest(self.simulator));
    modal.compute(system, dt);
    system.full_system(A, b_x0);
    const Eigen::Index n = A.rows();
    Eigen::MatrixXd A_bar = Eigen::MatrixXd::Zero(n + 3, n + 3);
    A_bar.topLeftCorner(n, n) = A;
    A_bar.block(0, n, n, 2) = b_x0;
    A_bar(n, n + 1) = A_bar(n + 1, n + 2) = 1.0;
    const Clock::time_point start = Clock::now();
    const Eigen::MatrixXd exponential = (A_bar * dt).exp();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    from_eigen = std::max(from_eigen, relative_difference(modal.x_int(), exponential.col(n + 1).head(n)));
    balanced.compute(A, b_x0, dt);
    from_balanced = std::max(from_balanced, relative_difference(modal.x_int(), balanced.x_int()));
  }
  return result;
}

/// g and ∂g/∂v⁺ of an implicit Euler step, for tests.
std::pair<Eigen::VectorXd, Eigen::MatrixXd> linearise(SharedSimulator& self, const Eigen::VectorXd& tau,
                                                      const std::vector<ExternalWrench>& wrenches,
                                                      const Eigen::VectorXd& v_next) {
  return self.alone([&](Simulator& simulator) {
    const auto* implicit = dynamic_cast<const ImplicitEuler*>(&simulator.integrator());
    if (!implicit) throw std::invalid_argument("the integrator is not implicit");
    std::pair<Eigen::VectorXd, Eigen::MatrixXd> result;
    implicit->linearise(simulator.world(), simulator.workspace(), simulator.now(),
                        make_input(simulator.world(), tau, wrenches), simulator.dt(), v_next, result.first,
                        result.second);
    return result;
  });
}

/// Length, forces from and to, (n, 3) each, and how far from the line between them, (n,), of every piece of a step.
using Piece = std::tuple<double, RowMatrixXd, RowMatrixXd, Eigen::VectorXd>;
std::vector<Piece> force_pieces(const StiffSystem& system, double dt, bool closely) {
  ForceAverages averages(ContactKernel{});
  averages.compute(system, dt);
  std::vector<Piece> result;
  for (const ForcePiece& piece : averages.bounds(system, closely)) {
    const auto n = static_cast<Eigen::Index>(system.active());
    RowMatrixXd from(n, 3), to(n, 3);
    Eigen::VectorXd deviation(n);
    for (Eigen::Index k = 0; k < n; ++k) {
      from.row(k) = piece.from[static_cast<std::size_t>(k)];
      to.row(k) = piece.to[static_cast<std::size_t>(k)];
      deviation(k) = piece.deviation[static_cast<std::size_t>(k)];
    }
    result.emplace_back(piece.length, from, to, deviation);
  }
  return result;
}

/// Bounds on the forces of a system, three coordinates to a contact.
std::vector<Piece> force_bounds(const Eigen::MatrixXd& Upsilon, const Eigen::VectorXd& K, const Eigen::VectorXd& B,
                                const Eigen::VectorXd& ddp_bar, const Eigen::VectorXd& x0, double dt, bool closely) {
  return force_pieces(StiffSystem(Upsilon, K, B, ddp_bar, x0), dt, closely);
}

/// The same of a simulator's active contacts over its step, and A and [b x0] of eq:contact_dyn.
std::tuple<std::vector<Piece>, Eigen::MatrixXd, Eigen::MatrixXd> force_bounds_at(SharedSimulator& self, bool closely) {
  const StiffSystem system = self.simulator.stiff_system(at_rest(self.simulator));
  std::tuple<std::vector<Piece>, Eigen::MatrixXd, Eigen::MatrixXd> result;
  std::get<0>(result) = force_pieces(system, self.simulator.dt(), closely);
  system.full_system(std::get<1>(result), std::get<2>(result));
  return result;
}

}  // namespace
}  // namespace exposim

NB_MODULE(_bench, m) {
  using namespace exposim;
  nb::module_::import_("exposim._core");  // has the types that these functions take
  m.doc() = "Stopwatches and views of parts of the core, for benchmarks and tests; not part of the package.";
  m.def("time_kernel", &time_kernel, nb::arg("simulator"), nb::arg("states"), nb::arg("kernel"));
  m.def("time_eigen_exponential", &time_eigen_exponential, nb::arg("simulator"), nb::arg("states"));
  m.def("linearise", &linearise, nb::arg("simulator"), nb::arg("tau"), nb::arg("wrenches"), nb::arg("v_next"));
  m.def("force_bounds", &force_bounds, nb::arg("Upsilon"), nb::arg("K"), nb::arg("B"), nb::arg("ddp_bar"),
        nb::arg("x0"), nb::arg("dt"), nb::arg("closely"));
  m.def("force_bounds_at", &force_bounds_at, nb::arg("simulator"), nb::arg("closely"));
  m.def("time_floor", &time_floor, nb::arg("simulator"), nb::arg("states"));
  bind_attaching(m);
  bind_resolving(m);
  bind_rigid_body(m);
  bind_surface_timing(m);
}
