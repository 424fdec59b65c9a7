// Derivatives of a step of Expo by what contacts are made of.

#include "exposim/integrators/expo_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

void ExpoTangent::begin_materials(const StrandList& strands) {
  system_.materials.clear();
  if (masses_.size() == out_->parameters.size()) return;
  for (const Strand& strand : strands.all()) {
    Tangent& material = system_.materials.emplace_back(Tangent::Zero(5, to_.size));
    if (strand.point == Strand::kNone) continue;
    for (std::size_t p = 0; p < out_->parameters.size(); ++p) {
      const auto& [more, less, between] = out_->parameters[p];
      const Material* const a = more->contact_law(strand.point, strand.memory.surface).made_of();
      const Material* const b = less->contact_law(strand.point, strand.memory.surface).made_of();
      if (!a || !b) continue;
      const Eigen::Matrix<double, 5, 1> by(a->K_n - b->K_n, a->K_t - b->K_t, a->B_n - b->B_n, a->B_t - b->B_t,
                                           a->mu - b->mu);
      material.col(to_.parameters + static_cast<Index>(p)) = by / between;
    }
  }
}

void ExpoTangent::add_change_of_Q(const StrandList& strands, std::size_t k, double h, const Vector3d& x,
                                  Tangent& to) const {
  if (system_.materials.empty() || is_limit(strands.all()[k])) return;
  const Vector3d& n = strands.all()[k].motion.n;
  const Vector3d along = n.dot(x) * n, across = x - along;
  const Tangent& material = system_.materials[k];
  to.middleRows<3>(row(k)) += h * h * (along * material.row(0) + across * material.row(1));
  to.middleRows<3>(row(k)) += h * (along * material.row(2) + across * material.row(3));
}

}  // namespace exposim
