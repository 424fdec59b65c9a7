#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <cstring>
#include <utility>
#include <vector>

#include "shared_simulator.hpp"

// What a step is given: numbers as they are in memory, quickly.

namespace exposim {

/// The numbers of an array of floats, where they are in memory, for as long as this lives; none of something else.
///
/// Only of what has them in memory as they are: a conversion would run Python, and what a signal handler raises
/// meanwhile would be lost. nanobind's own goes wrong where there are no strides, as of a NumPy date.
class Numbers {
 public:
  explicit Numbers(nanobind::handle given) {
    if (!PyObject_CheckBuffer(given.ptr())) return;
    is_held_ = PyObject_GetBuffer(given.ptr(), &view_, PyBUF_ND | PyBUF_FORMAT) == 0;
    if (!is_held_) PyErr_Clear();
  }
  ~Numbers() {
    if (is_held_) PyBuffer_Release(&view_);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  explicit operator bool() const {
    return is_held_ && view_.ndim == 1 && view_.shape && view_.format && std::strcmp(view_.format, "d") == 0;
  }
  Eigen::Map<const Eigen::VectorXd> operator*() const {
    return {static_cast<const double*>(view_.buf), view_.shape[0]};
  }

 private:
  Py_buffer view_;
  bool is_held_ = false;
};

/// Joint torques of all degrees of freedom, or of the actuated ones; without any none. @return false if it is something
/// else.
inline bool read_torques(const Robot& robot, nanobind::handle given, Eigen::VectorXd& tau) {
  tau.setZero(robot.nv());
  if (given.is_none()) return true;
  const Numbers numbers(given);
  if (!numbers || !takes(robot, *numbers)) return false;
  spread(robot, *numbers, tau);
  return true;
}

/// A configuration, or one angle or length per actuated degree of freedom. @return false if it is something else.
inline bool read_target(const World& world, nanobind::handle given, Eigen::VectorXd& target) {
  target = world.joints().rest;
  if (given.is_none()) return true;
  const Robot& robot = world.robot();
  const Numbers numbers(given);
  if (!numbers || !(*numbers).allFinite()) return false;
  const auto angles = *numbers;
  if (angles.size() == robot.nq()) {
    target = angles;
    return true;
  }
  if (angles.size() != static_cast<Eigen::Index>(robot.actuated().size())) return false;
  for (Eigen::Index k = 0; k < angles.size(); ++k) {
    const Eigen::Index in_q = robot.in_q(robot.actuated()[static_cast<std::size_t>(k)]);
    if (in_q < 0) return false;
    target(in_q) = angles(k);
  }
  return true;
}

/// Velocities of all degrees of freedom; without any, rest. @return false if it is something else.
inline bool read_velocity(const Robot& robot, nanobind::handle given, Eigen::VectorXd& velocity) {
  velocity.setZero(robot.nv());
  if (given.is_none()) return true;
  const Numbers numbers(given);
  if (!numbers || (*numbers).size() != velocity.size() || !(*numbers).allFinite()) return false;
  velocity = *numbers;
  return true;
}

/// What a step is given, into memory that there may be already. @return false if any of it is something else.
inline bool read_input(const World& world, nanobind::handle tau, nanobind::handle target,
                       nanobind::handle target_velocity, std::vector<ExternalWrench> wrenches, Input& input) {
  input.wrenches = std::move(wrenches);
  return read_torques(world.robot(), tau, input.tau) && read_target(world, target, input.target) &&
         read_velocity(world.robot(), target_velocity, input.target_velocity);
}

}  // namespace exposim
