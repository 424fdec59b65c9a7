#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exposim/simulator.hpp"

namespace exposim {

/// A simulator that several Python threads may touch: one at a time, without the interpreter lock while it works.
struct SharedSimulator {
  Simulator simulator;
  std::mutex mutex;

  SharedSimulator(std::shared_ptr<World> world, std::shared_ptr<Integrator> integrator, double dt)
      : simulator(std::move(world), std::move(integrator), dt) {}

  /// Calls a function of the simulator, alone and without the interpreter lock.
  template <typename Function>
  auto locked(Function&& function) {
    const nanobind::gil_scoped_release release;
    const std::lock_guard lock(mutex);  // taken after the release, given back before the interpreter lock
    return function(simulator);
  }
};

/// Spreads tau over the degrees of freedom; without one it is zero.
/// @throws std::invalid_argument
inline Input make_input(const Robot& robot, const std::optional<Eigen::VectorXd>& tau,
                        std::vector<ExternalWrench> wrenches) {
  Input input{Eigen::VectorXd::Zero(robot.nv()), std::move(wrenches)};
  if (!tau) return input;
  const std::vector<int>& actuated = robot.actuated();
  if (tau->size() != robot.nv() && tau->size() != static_cast<Eigen::Index>(actuated.size())) {
    throw std::invalid_argument("tau has the wrong size");
  }
  if (!tau->allFinite()) throw std::invalid_argument("tau must be finite");
  if (tau->size() == robot.nv()) {
    input.tau = *tau;
  } else {
    for (std::size_t i = 0; i < actuated.size(); ++i) input.tau(actuated[i]) = (*tau)(static_cast<Eigen::Index>(i));
  }
  return input;
}

}  // namespace exposim
