#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exposim/simulator.hpp"
#include "interpreter_lock.hpp"
#include "turns.hpp"

namespace exposim {

/// A simulator that several Python threads may touch: one at a time, without the interpreter lock while it works.
///
/// A surface written in Python is called while it works, by the same thread, and may look at it then, not move it.
/// In the child of a fork it can be used if no other thread was at work in it then; otherwise it is Busy for ever.
class SharedSimulator {
  std::unique_ptr<Simulator> owned_;

 public:
  Simulator& simulator;
  const bool stops;  ///< where it has diverged, until it is reset

  SharedSimulator(std::shared_ptr<World> world, std::shared_ptr<Integrator> integrator, double dt, bool stops)
      : owned_(std::make_unique<Simulator>(std::move(world), std::move(integrator), dt)),
        simulator(*owned_),
        stops(stops) {}
  ~SharedSimulator() {
    if (turns_.is_left_behind()) static_cast<void>(owned_.release());  // not whole: it cannot be destroyed
  }

  /// Calls a function that looks at the simulator, alone and without the interpreter lock.
  /// @throws Busy
  template <typename Function>
  auto locked(Function&& function) {
    const WithoutInterpreter released;
    const Turn turn(turns_);  // taken after the release, given back before the interpreter lock
    return function(simulator);
  }

  /// The same for a function that moves it, or works in its memory.
  /// @throws Busy also if it is at work already, further up in this thread.
  template <typename Function>
  auto alone(Function&& function) {
    return locked([&](Simulator& found) {
      if (working_) throw Busy("the simulator is in the middle of a step; move it when that has been taken");
      const Working working(working_);
      return function(found);
    });
  }

  /// For one who works long: gives other threads a chance in between.
  void let_others_look() {
    const WithoutInterpreter released;
    turns_.let_others_look();
  }

 private:
  struct Turn {
    explicit Turn(Turns& turns) : turns_(turns) {
      while (!turns_.take(kBetweenSignals)) {
        with_interpreter([] {
          if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        });
        if (interpreter_leaves()) throw Busy("the simulator is in the middle of a step of a thread that has ended");
      }
    }
    ~Turn() { turns_.give_back(); }
    Turns& turns_;
  };

  struct Working {
    explicit Working(bool& flag) : flag_(flag) { flag_ = true; }
    ~Working() { flag_ = false; }
    bool& flag_;
  };

  static constexpr std::chrono::milliseconds kBetweenSignals{100};
  Turns turns_;
  bool working_ = false;
};

/// Whether these are torques of all degrees of freedom, or of the actuated ones.
inline bool takes(const Robot& robot, const Eigen::VectorXd& tau) {
  const bool fits = tau.size() == robot.nv() || tau.size() == static_cast<Eigen::Index>(robot.actuated().size());
  return fits && tau.allFinite();
}

/// Spreads tau over the degrees of freedom; without one it is zero. The target is rest.
/// @throws std::invalid_argument
inline Input make_input(const World& world, const std::optional<Eigen::VectorXd>& tau,
                        std::vector<ExternalWrench> wrenches) {
  const Robot& robot = world.robot();
  Input input{Eigen::VectorXd::Zero(robot.nv()), world.joints().rest, Eigen::VectorXd::Zero(robot.nv()),
              std::move(wrenches)};
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
