#pragma once

#include <Eigen/Core>
#include <vector>

#include "exposim/contact/contact_state.hpp"

namespace exposim {

/// All that the future depends on, nothing else.
struct State {
  double t = 0.0;  ///< [s]
  Eigen::VectorXd q, v;
  std::vector<ContactState> contacts;
};

}  // namespace exposim
