#pragma once

#include <pinocchio/multibody.hpp>

namespace exposim {

struct PinocchioModel {
  pinocchio::Model model;
};

}  // namespace exposim
