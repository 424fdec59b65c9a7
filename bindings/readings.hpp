#pragma once

#include <nanobind/nanobind.h>

#include "shared_simulator.hpp"

namespace exposim {

/// A reader of the simulator, alone and without the interpreter lock.
template <typename Function>
auto reader(Function function) {
  return [function](SharedSimulator& self) { return self.locked(function); };
}

/// What can be read of a simulator: its state, contacts, joints, and what the last step found.
void bind_readings(nanobind::class_<SharedSimulator>& simulator);

}  // namespace exposim
