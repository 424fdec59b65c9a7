#include "bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "C++ core of exposim: takes validated input; the package around it is what people use.";
  m.attr("PINOCCHIO_VERSION") = EXPOSIM_PINOCCHIO_VERSION;
  exposim::bind_kernels(m);
  exposim::bind_robot(m);
  exposim::bind_contact(m);
  exposim::bind_integrators(m);
  exposim::bind_simulator(m);
}
