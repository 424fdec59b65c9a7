#pragma once

#include <nanobind/nanobind.h>

namespace exposim {

void bind_kernels(nanobind::module_& m);
void bind_robot(nanobind::module_& m);
void bind_surfaces(nanobind::module_& m);
void bind_world(nanobind::module_& m);
void bind_integrators(nanobind::module_& m);
void bind_resolve(nanobind::module_& m);
void bind_path(nanobind::module_& m);
void bind_simulator(nanobind::module_& m);
void bind_derivatives(nanobind::module_& m);
void bind_policies(nanobind::module_& m);
void bind_rollout(nanobind::module_& m);

}  // namespace exposim
