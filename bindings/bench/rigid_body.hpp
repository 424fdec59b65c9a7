#pragma once

#include <nanobind/nanobind.h>

namespace exposim {

/// Rigid-body terms as the core computes them, and what they cost.
void bind_rigid_body(nanobind::module_& m);

}  // namespace exposim
