#pragma once

#include <nanobind/nanobind.h>

namespace exposim {

/// What a query of a surface costs.
void bind_surface_timing(nanobind::module_& m);

}  // namespace exposim
