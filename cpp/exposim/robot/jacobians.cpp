#include "exposim/robot/jacobians.hpp"

#include "exposim/kernels/fours.hpp"

namespace exposim {

using Eigen::Vector3d;

EXPOSIM_FOR_EACH_MACHINE
void add_jacobian_transpose(const RobotData& data, std::size_t joint, const Vector3d& p, double sign,
                            const Eigen::Index* dofs, Eigen::Index size, double* rows) {
  for (const Eigen::Index i : data.robot().supports(joint)) {
    while (*dofs != i) ++dofs, rows += size;
    const Column& column = data.tree().columns[static_cast<std::size_t>(i)];
    const Vec3 at_p = column.linear + cross(column.angular, p - column.o);
    rows[0] += sign * at_p.x;
    rows[1] += sign * at_p.y;
    rows[2] += sign * at_p.z;
    if (size == 3) continue;
    rows[3] += sign * column.angular.x;
    rows[4] += sign * column.angular.y;
    rows[5] += sign * column.angular.z;
  }
}

Vector3d point_drift(const RobotData& data, std::size_t joint, const Vector3d& p) {
  const BodyMotion& body = data.tree().bodies[joint];
  const BodyTerms& terms = data.tree().terms[joint];
  const Vec3 r = p - body.p;
  return terms.a + cross(terms.alpha, r) + cross(body.omega, cross(body.omega, r));
}

Vector3d angular_drift(const RobotData& data, std::size_t joint) { return data.tree().terms[joint].alpha; }

}  // namespace exposim
