#pragma once

#include <nanobind/nanobind.h>

namespace exposim {

/// Springs attached to a mass, by themselves, for tests.
void bind_attaching(nanobind::module_& m);

}  // namespace exposim
