#pragma once

#include "exposim/contact/strands.hpp"
#include "exposim/instant.hpp"
#include "exposim/world.hpp"

namespace exposim {

/// Whether an open contact that a step did not take along came to its surface: it is below at the end, or was in
/// between by the cubic through its gaps and their rates. Where slots are taken and given back, the end alone counts.
bool missed_landing(const World& world, const StrandList& strands, const Instant& before, const Instant& after,
                    double dt);

/// Largest angle between the normals that contacts were followed with and those where they are, by the last kinematics
/// [rad]; of those that touch, or did.
double turn_of_normals(const World& world, const RobotData& data, const StrandList& strands);

/// Lowest value within dt of the cubic with these values and slopes at its ends.
double lowest_gap_between(double phi, double dphi, double phi_end, double dphi_end, double dt);

}  // namespace exposim
