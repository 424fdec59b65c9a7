#pragma once

#include "exposim/contact/strands.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/expo/robot_update.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/workspace.hpp"

namespace exposim {

struct PaperScratch final : Scratch {
  explicit PaperScratch(const ContactKernel& kernel) : averages(kernel) {}

  StrandList strands;
  StiffSystem system;
  ForceAverages averages;
  RobotUpdate update;
};

}  // namespace exposim
