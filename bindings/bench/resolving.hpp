#pragma once

#include <nanobind/nanobind.h>

namespace exposim {

/// Strands and drives of a robot followed through a step, and how that changes, for tests.
void bind_resolving(nanobind::module_& m);

}  // namespace exposim
