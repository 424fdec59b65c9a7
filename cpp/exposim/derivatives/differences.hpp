#pragma once

#include "exposim/derivatives/step_derivatives.hpp"
#include "exposim/integrators/integrator.hpp"

namespace exposim {

/// A step as it is to be differentiated.
struct StepTaken {
  const World& world;
  const Integrator& integrator;
  const Instant& start;
  const Input& input;
  double dt;
  const Step& step;
};

/// Derivatives by those of the formulas, of schemes and worlds that know them.
/// @param step which is taken along with them: that of `taken`.
/// @return false where they are not known.
bool differentiate_by_formulas(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                               Step& step, StepDerivatives& out);

/// Derivatives of any step by central differences, so small that its discrete choices stay what they are. In directions
/// in which they do not, those of the side on which they do, which is noted.
///
/// @param workspace of the scheme.
void differentiate_by_differences(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                                  StepDerivatives& out);

}  // namespace exposim
