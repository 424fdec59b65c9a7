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
  if (!taken.integrator.differentiate(taken.world, workspace, taken.start, taken.input, taken.dt, step, tangent)) {
    return false;
  }
  const Directions to(taken.world, tangent.forces, tangent.wrenches, tangent.parameters.size());
  out.x = tangent.next.leftCols(to.forces);
  out.force = tangent.next.middleCols(to.forces, to.wrenches - to.forces);
  out.grazing = tangent.grazing;
  out.wrench = tangent.next.middleCols(to.wrenches, to.parameters - to.wrenches);
  out.parameters = tangent.next.middleCols(to.parameters, static_cast<Index>(request.parameters.size()));
  return true;
}

}  // namespace exposim
