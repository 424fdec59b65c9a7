#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// An integrator's options; every simulator gets an instance of its own from it.
struct IntegratorFactory {
  std::function<std::unique_ptr<Integrator>()> make;
};

void bind_kernels(nanobind::module_& m);
void bind_robot(nanobind::module_& m);
void bind_contact(nanobind::module_& m);
void bind_integrators(nanobind::module_& m);
void bind_simulator(nanobind::module_& m);
void bind_timing(nanobind::module_& m);

}  // namespace exposim
