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
///
/// A surface written in Python is called while it works, by the same thread, and may look at it then, not move it.
struct SharedSimulator {
  Simulator simulator;

  SharedSimulator(std::shared_ptr<World> world, std::shared_ptr<Integrator> integrator, double dt)
      : simulator(std::move(world), std::move(integrator), dt) {}

  /// Calls a function that looks at the simulator, alone and without the interpreter lock.
  template <typename Function>
  auto locked(Function&& function) {
    const nanobind::gil_scoped_release release;
    const std::lock_guard lock(mutex_);  // taken after the release, given back before the interpreter lock
    return function(simulator);
  }

  /// The same for a function that moves it, or works in its memory.
  /// @throws std::runtime_error if it is at work already, further up in this thread.
  template <typename Function>
  auto alone(Function&& function) {
    return locked([&](Simulator& found) {
      if (working_) throw std::runtime_error("the simulator is in the middle of a step");
      const Working working(working_);
      return function(found);
    });
  }

 private:
  struct Working {
    explicit Working(bool& flag) : flag_(flag) { flag_ = true; }
    ~Working() { flag_ = false; }
    bool& flag_;
  };

  std::recursive_mutex mutex_;
  bool working_ = false;
};

/// Whether these are torques of all degrees of freedom, or of the actuated ones.
inline bool takes(const Robot& robot, const Eigen::VectorXd& tau) {
  const bool fits = tau.size() == robot.nv() || tau.size() == static_cast<Eigen::Index>(robot.actuated().size());
  return fits && tau.allFinite();
}

/// Spreads tau over the degrees of freedom; without one it is zero.
/// @throws std::invalid_argument
inline Input make_input(const Robot& robot, const std::optional<Eigen::VectorXd>& tau,
                        std::vector<ExternalWrench> wrenches) {
  Input input{Eigen::VectorXd::Zero(robot.nv()), std::move(wrenches)};
  if (!tau) return input;
  if (!takes(robot, *tau)) throw std::invalid_argument("tau has the wrong size, or is not finite");
  const std::vector<int>& actuated = robot.actuated();
  if (tau->size() == robot.nv()) {
    input.tau = *tau;
  } else {
    for (std::size_t i = 0; i < actuated.size(); ++i) input.tau(actuated[i]) = (*tau)(static_cast<Eigen::Index>(i));
  }
  return input;
}

}  // namespace exposim
