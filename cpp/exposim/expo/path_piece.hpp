#pragma once

#include "exposim/expo/resolver.hpp"
#include "exposim/expo/system.hpp"
#include "exposim/path.hpp"
#include "exposim/robot/robot_data.hpp"
#include "exposim/step.hpp"

namespace exposim {

/// The inside of a part of a step: its contacts, whether they changed or not, are followed once more with the same
/// terms, closely.
/// @param slots which entry of the instant each strand has; empty: as at the start.
/// @param step that was committed.
Path::Piece path_piece(const RobotData& data, const StiffSystem& system, const StrandList& strands,
                       const std::vector<std::size_t>& slots, const Instant& from, double dt, const Step& step);

}  // namespace exposim
