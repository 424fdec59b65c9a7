// Derivatives of a step of Expo by what contacts and limits are made of.

#include <algorithm>

#include "exposim/integrators/contact_tangent.hpp"
#include "exposim/integrators/expo_tangent.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Vector3d;

void ExpoTangent::begin_materials(const StrandList& strands) {
  std::vector<Tangent>& all = system_.materials;
  all.clear();
  for (const Strand& strand : strands.all()) {
    Tangent& each = all.emplace_back();
    if (is_limit(strand)) {
      each = limit_tangent(*out_, to_, strand.index);
    } else if (strand.point != Strand::kNone) {
      each = material_tangent(*out_, to_, strand.point, strand.memory.surface);
    }
  }
  if (std::all_of(all.begin(), all.end(), [](const Tangent& each) { return each.rows() == 0; })) return all.clear();
  for (Tangent& each : all) {
    if (each.rows() == 0) each.setZero(5, to_.size);
  }
}

void ExpoTangent::add_change_of_Q(const StrandList& strands, std::size_t k, double h, const Vector3d& x,
                                  Tangent& to) const {
  if (system_.materials.empty()) return;
  const Vector3d& n = strands.all()[k].motion.n;
  const Vector3d along = n.dot(x) * n, across = x - along;
  const Index size = to_.size - to_.parameters;
  const auto material = system_.materials[k].rightCols(size);
  auto rows = to.block(row(k), to_.parameters, 3, size);
  rows += h * h * (along * material.row(0) + across * material.row(1));
  rows += h * (along * material.row(2) + across * material.row(3));
}

}  // namespace exposim
