#include "exposim/robot/jacobians.hpp"

#include <Eigen/Geometry>

namespace exposim {

using Eigen::Vector3d;

void add_jacobian_transpose(const RobotData& data, std::size_t joint, const Vector3d& p, double sign,
                            const Eigen::Index* dofs, Eigen::Index size, double* rows) {
  for (const Eigen::Index i : data.robot().supports(joint)) {
    while (*dofs != i) ++dofs, rows += size;
    const Column& column = data.tree().columns[static_cast<std::size_t>(i)];
    const Vector3d at_p = column.linear + column.angular.cross(p - column.o);
    for (Eigen::Index k = 0; k < 3; ++k) rows[k] += sign * at_p[k];
    for (Eigen::Index k = 3; k < size; ++k) rows[k] += sign * column.angular[k - 3];
  }
}

Vector3d point_drift(const RobotData& data, std::size_t joint, const Vector3d& p) {
  const BodyMotion& body = data.tree().bodies[joint];
  const BodyTerms& terms = data.tree().terms[joint];
  const Vector3d r = p - body.p;
  return terms.a + terms.alpha.cross(r) + body.omega.cross(body.omega.cross(r));
}

Vector3d angular_drift(const RobotData& data, std::size_t joint) { return data.tree().terms[joint].alpha; }

}  // namespace exposim
