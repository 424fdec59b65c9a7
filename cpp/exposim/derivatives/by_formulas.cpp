#include <utility>

#include "exposim/derivatives/differences.hpp"

namespace exposim {

using Eigen::Index;

bool differentiate_by_formulas(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                               Step& step, StepDerivatives& out) {
  StepTangent tangent;
  tangent.exact = request.exact;
  tangent.forces = request.forces;
  if (request.wrenches) tangent.wrenches = taken.input.wrenches.size();
  for (const auto& [more, less, between] : request.parameters) {
    tangent.parameters.push_back({more.get(), less.get(), between});
  }
  tangent.next.swap(out.all);  // for its memory
  const bool done =
      taken.integrator.differentiate(taken.world, workspace, taken.start, taken.input, taken.dt, step, tangent);
  tangent.next.swap(out.all);
  if (!done) return false;
  out.by = Directions(taken.world, tangent.forces, tangent.wrenches, tangent.parameters.size());
  out.grazing = std::move(tangent.grazing);
  return true;
}

}  // namespace exposim
