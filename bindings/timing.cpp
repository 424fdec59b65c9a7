#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <unsupported/Eigen/MatrixFunctions>
#include <utility>

#include "exposim/contact/contact_integrals.hpp"
#include "exposim/robot/floor.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds and Newton iterations of one step from each of the states.
std::pair<std::vector<double>, std::vector<int>> time_steps(SharedSimulator& self, const std::vector<State>& states,
                                                            const Eigen::VectorXd& tau) {
  nb::gil_scoped_release release;
  const std::lock_guard lock(self.mutex);
  self.set_tau(tau);
  self.input.wrenches.clear();
  std::pair<std::vector<double>, std::vector<int>> result;
  for (const State& state : states) {
    self.simulator.set_state(state);
    const Clock::time_point start = Clock::now();
    self.simulator.step(self.input, 1);
    result.first.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    result.second.push_back(self.simulator.info().newton.iterations);
  }
  return result;
}

/// Points of the active contacts of a state.
std::vector<std::size_t> active_points(const SharedSimulator& self, const State& state) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < state.contacts.size(); ++i) {
    if (state.contacts[i].active) points.push_back(self.simulator.contacts().pair(i).point);
  }
  return points;
}

/// Seconds of the bare Pinocchio calls of an explicit Euler and of an Expo step at each of the states.
std::pair<std::vector<double>, std::vector<double>> time_floor(const SharedSimulator& self,
                                                               const std::vector<State>& states) {
  StepFloor floor(self.simulator.robot());
  std::pair<std::vector<double>, std::vector<double>> result;
  for (const State& state : states) {
    const std::vector<std::size_t> points = active_points(self, state);
    result.first.push_back(floor.time_explicit_euler(state.q, state.v, points));
    result.second.push_back(floor.time_expo(state.q, state.v, points));
  }
  return result;
}

/// Seconds of the kernel alone at each of the states, with the simulator's step.
std::vector<double> time_kernel(SharedSimulator& self, const std::vector<State>& states, const ContactKernel& kernel) {
  ContactIntegrals integrals(kernel);
  std::vector<double> result;
  for (const State& state : states) {
    self.simulator.set_state(state);
    const ContactDynamics system = self.simulator.contact_dynamics(self.input);
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
                                                                       const std::vector<State>& states) {
  ContactIntegrals modal(ContactKernel{});
  IntegralKernel balanced{KernelOptions{}};
  std::tuple<std::vector<double>, double, double> result{{}, 0.0, 0.0};
  auto& [seconds, from_eigen, from_balanced] = result;
  const double dt = self.simulator.dt();
  Eigen::MatrixXd A, b_x0;
  for (const State& state : states) {
    self.simulator.set_state(state);
    const ContactDynamics system = self.simulator.contact_dynamics(self.input);
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

}  // namespace

void bind_timing(nb::module_& m) {
  m.def("time_steps", &time_steps, nb::arg("simulator"), nb::arg("states"), nb::arg("tau"));
  m.def("time_kernel", &time_kernel, nb::arg("simulator"), nb::arg("states"), nb::arg("kernel"));
  m.def("time_eigen_exponential", &time_eigen_exponential, nb::arg("simulator"), nb::arg("states"));
  m.def("time_floor", &time_floor, nb::arg("simulator"), nb::arg("states"));
}

}  // namespace exposim
