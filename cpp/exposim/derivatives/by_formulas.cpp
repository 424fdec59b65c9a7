#include <algorithm>

#include "exposim/derivatives/differences.hpp"

namespace exposim {

using Eigen::Index;

bool differentiate_by_formulas(const StepTaken& taken, Workspace& workspace, const DerivativeRequest& request,
                               Step& step, StepDerivatives& out) {
  // Of parameters, those of materials alone; the rest by differences.
  StepTangent tangent;
  tangent.exact = request.exact;
  std::vector<std::size_t> of_materials, others;
  for (std::size_t k = 0; k < request.parameters.size(); ++k) {
    const Parameter& parameter = request.parameters[k];
    const auto& robot = taken.world.shared_robot();
    const bool same_robot = parameter.more->shared_robot() == robot && parameter.less->shared_robot() == robot;
    (same_robot ? of_materials : others).push_back(k);
    if (same_robot) {
      tangent.parameters.push_back({parameter.more.get(), parameter.less.get(), parameter.between});
    }
  }
  if (!taken.integrator.differentiate(taken.world, workspace, taken.start, taken.input, taken.dt, step, tangent)) {
    return false;
  }
  const Directions to(taken.world, tangent.parameters.size());
  out.x = tangent.next.leftCols(to.forces);
  out.force = tangent.next.middleCols(to.forces, to.nv);
  out.grazing = tangent.grazing;
  DerivativeRequest rest = request;
  rest.parameters.clear();
  for (const std::size_t k : others) rest.parameters.push_back(request.parameters[k]);
  differentiate_rest_by_differences(taken, workspace, rest, out);
  const RowMatrixXd by_differences = out.parameters;
  out.parameters.resize(to.forces, static_cast<Index>(request.parameters.size()));
  for (std::size_t i = 0; i < of_materials.size(); ++i) {
    out.parameters.col(static_cast<Index>(of_materials[i])) = tangent.next.col(to.parameters + static_cast<Index>(i));
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    out.parameters.col(static_cast<Index>(others[i])) = by_differences.col(static_cast<Index>(i));
  }
  return true;
}

}  // namespace exposim
