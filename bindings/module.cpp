#include "bindings.hpp"

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // a robot kept in a global or a cache until exit is no leak
  m.doc() = "C++ core of exposim: takes validated input; the package around it is what people use.";
  m.attr("PINOCCHIO_VERSION") = EXPOSIM_PINOCCHIO_VERSION;
  exposim::bind_kernels(m);
  exposim::bind_robot(m);
  exposim::bind_surfaces(m);
  exposim::bind_world(m);
  exposim::bind_integrators(m);
  exposim::bind_resolve(m);
  exposim::bind_path(m);
  exposim::bind_simulator(m);
  exposim::bind_derivatives(m);
  exposim::bind_policies(m);
  exposim::bind_rollout(m);
}
