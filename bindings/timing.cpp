#include <nanobind/eigen/dense.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <utility>

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

}  // namespace

void bind_timing(nb::module_& m) {
  m.def("time_steps", &time_steps, nb::arg("simulator"), nb::arg("states"), nb::arg("tau"));
  m.def("time_floor", &time_floor, nb::arg("simulator"), nb::arg("states"));
}

}  // namespace exposim
