#pragma once

#include <pinocchio/multibody.hpp>
#include <vector>

#include "exposim/robot/eigen_layout.hpp"

namespace exposim {

struct PinocchioModel {
  pinocchio::Model model;
  std::vector<std::size_t> turning;  ///< joints whose turning changes anything: not those of a rotor, nor of a ball
};

}  // namespace exposim
