#include "exposim/stiff/motion.hpp"

#include <Eigen/Geometry>

namespace exposim {

using Eigen::Vector3d;

void carry(const Vector3d& p, const Vector3d& n, const Motion& to, Memory& memory) {
  const Vector3d moved = to.p - p;
  if (memory.mode == Mode::kBound) {
    memory.s += moved;
  } else if (!to.curved) {
    memory.s += tangent(moved, to.n);
  } else {
    // The chord lies in the tangent plane of the normal halfway; the stretch turns with the normal.
    const Vector3d halfway = (n + to.n).normalized();
    memory.s = Eigen::Quaterniond::FromTwoVectors(n, halfway) * memory.s + tangent(moved, halfway);
    memory.s = Eigen::Quaterniond::FromTwoVectors(halfway, to.n) * memory.s;
  }
}

void turn(const Vector3d& n, const Motion& to, Memory& memory) {
  if (to.curved) memory.s = Eigen::Quaterniond::FromTwoVectors(n, to.n) * memory.s;
}

}  // namespace exposim
