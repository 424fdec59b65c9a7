#include "exposim/robot/inertia_changes.hpp"

#include <Eigen/Geometry>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic>;

Matrix3d matrix_of(const Symmetric3& S) {
  Matrix3d result;
  result << S.xx, S.xy, S.xz, S.xy, S.yy, S.yz, S.xz, S.yz, S.zz;
  return result;
}

/// Adds what a force and a moment about the origin of a body push the degrees of freedom with that move it.
void push(const Robot& robot, const Movers& movers, const InertiaChange& change, const Vector3d& f, const Vector3d& n,
          VectorXd& out) {
  for (const Index k : robot.supports(change.joint)) {
    const Mover& mover = movers[static_cast<std::size_t>(k)];
    out(k) += mover.at(change.o).dot(f) + mover.angular.dot(n);
  }
}

/// Angular and linear velocity of a body's frame at rates of the degrees of freedom.
Columns velocities(const Robot& robot, const Movers& movers, const InertiaChange& change, const MatrixXd& rates) {
  Columns V = Columns::Zero(6, rates.cols());
  for (const Index k : robot.supports(change.joint)) {
    const Mover& mover = movers[static_cast<std::size_t>(k)];
    Eigen::Matrix<double, 6, 1> S;
    S << mover.angular, mover.at(change.o);
    V.noalias() += S * rates.row(k);
  }
  return V;
}

Columns momenta(const InertiaChange& change, const Columns& V) {
  Columns F(6, V.cols());
  for (Index i = 0; i < V.cols(); ++i) {
    const Vector3d omega = V.col(i).head<3>(), v = V.col(i).tail<3>();
    F.col(i).head<3>() = change.I * omega + change.mc.cross(v);
    F.col(i).tail<3>() = change.mass * v + omega.cross(change.mc);
  }
  return F;
}

}  // namespace

InertiaChanges inertia_changes(const Robot& more, const Robot& less, double between) {
  InertiaChanges changes;
  for (std::size_t i = 1; i < more.tree().joints.size(); ++i) {
    const TreeJoint &a = more.tree().joints[i], &b = less.tree().joints[i];
    const InertiaChange change{i, (a.mass - b.mass) / between, (Vector3d(a.mc) - Vector3d(b.mc)) / between,
                               (matrix_of(a.I) - matrix_of(b.I)) / between};
    if (change.mass != 0.0 || !change.mc.isZero(0.0) || !change.I.isZero(0.0)) changes.push_back(change);
  }
  return changes;
}

InertiaChanges in_world(const RobotData& data, const InertiaChanges& changes) {
  InertiaChanges turned = changes;
  for (InertiaChange& change : turned) {
    const Matrix3d R = rotation(data, change.joint);
    change.mc = R * change.mc;
    change.I = R * change.I * R.transpose();
    change.o = data.tree().bodies[change.joint].p;
  }
  return turned;
}

VectorXd force_by_inertia(const RobotData& data, const Movers& movers, const BodyAccelerations& accelerations,
                          const InertiaChanges& changes) {
  VectorXd out = VectorXd::Zero(data.robot().nv());
  const Vector3d gravity = data.robot().tree().gravity;
  for (const InertiaChange& change : changes) {
    const Vector3d a = accelerations.linear(change.joint) - gravity, alpha = accelerations.angular(change.joint);
    const Vector3d omega = angular_velocity(data, change.joint);
    const Vector3d f = change.mass * a + alpha.cross(change.mc) + omega.cross(omega.cross(change.mc));
    const Vector3d n = change.I * alpha + omega.cross(change.I * omega) + change.mc.cross(a);
    push(data.robot(), movers, change, f, n, out);
  }
  return out;
}

VectorXd momentum_by_inertia(const Robot& robot, const Movers& movers, const VectorXd& a,
                             const InertiaChanges& changes) {
  VectorXd out = VectorXd::Zero(robot.nv());
  for (const InertiaChange& change : changes) {
    const Columns F = momenta(change, velocities(robot, movers, change, a));
    push(robot, movers, change, F.col(0).tail<3>(), F.col(0).head<3>(), out);
  }
  return out;
}

MatrixXd products_by_inertia(const Robot& robot, const Movers& movers, const MatrixXd& rates,
                             const InertiaChanges& changes) {
  MatrixXd out = MatrixXd::Zero(rates.cols(), rates.cols());
  for (const InertiaChange& change : changes) {
    const Columns V = velocities(robot, movers, change, rates);
    out.noalias() += V.transpose() * momenta(change, V);
  }
  return out;
}

}  // namespace exposim
