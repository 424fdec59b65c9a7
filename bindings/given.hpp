#pragma once

#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <cstring>
#include <optional>

#include "exposim/world.hpp"

// What a step is given: numbers as they are in memory, quickly.

namespace exposim {

/// The numbers of an array of floats; none if it is something else.
///
/// Only of what has them in memory as they are: a conversion would run Python, and what a signal handler raises
/// meanwhile would be lost. nanobind's own goes wrong where there are no strides, as of a NumPy date.
inline std::optional<Eigen::VectorXd> numbers_of(nanobind::handle given) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(given.ptr())) return std::nullopt;
  if (PyObject_GetBuffer(given.ptr(), &view, PyBUF_ND | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  std::optional<Eigen::VectorXd> numbers;
  if (view.ndim == 1 && view.shape && view.format && std::strcmp(view.format, "d") == 0) {
    numbers = Eigen::Map<const Eigen::VectorXd>(static_cast<const double*>(view.buf), view.shape[0]);
  }
  PyBuffer_Release(&view);
  return numbers;
}

/// A configuration, or one angle or length per actuated degree of freedom. @return false if it is something else.
inline bool read_target(const World& world, nanobind::handle given, Eigen::VectorXd& target) {
  if (given.is_none()) return true;
  const Robot& robot = world.robot();
  const std::optional<Eigen::VectorXd> numbers = numbers_of(given);
  if (!numbers || !numbers->allFinite()) return false;
  if (numbers->size() == robot.nq()) {
    target = *numbers;
    return true;
  }
  if (numbers->size() != static_cast<Eigen::Index>(robot.actuated().size())) return false;
  target = world.joints().rest;
  for (Eigen::Index k = 0; k < numbers->size(); ++k) {
    const Eigen::Index in_q = robot.in_q(robot.actuated()[static_cast<std::size_t>(k)]);
    if (in_q < 0) return false;
    target(in_q) = (*numbers)(k);
  }
  return true;
}

/// @return false if it is something else.
inline bool read_velocity(nanobind::handle given, Eigen::Index size, Eigen::VectorXd& velocity) {
  if (given.is_none()) return true;
  const std::optional<Eigen::VectorXd> numbers = numbers_of(given);
  if (!numbers || numbers->size() != size || !numbers->allFinite()) return false;
  velocity = *numbers;
  return true;
}

}  // namespace exposim
