#pragma once

#include "exposim/contact/strands.hpp"
#include "exposim/expo/averages.hpp"
#include "exposim/expo/system.hpp"

namespace exposim {

/// Whether any strand may change its mode within the step, by bounds on λ(t) and φ(t) that hold throughout: a first,
/// and where that does not rule it out a closer look.
bool may_change(const StiffSystem& system, const StrandList& strands, ForceAverages& averages, double dt);

}  // namespace exposim
