#pragma once

namespace exposim {

/// Stiffness [N/m] and damping [N·s/m] along the normal and in the tangent plane, and friction [-].
struct Material {
  double K_n, K_t;
  double B_n, B_t;
  double mu;
};

}  // namespace exposim
