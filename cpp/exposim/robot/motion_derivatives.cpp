#include "exposim/robot/motion_derivatives.hpp"

#include <Eigen/Geometry>
#include <algorithm>

#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::Matrix3Xd;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

Vector3d origin_of(const RobotData& data, std::size_t joint) { return data.tree().bodies[joint].p; }

}  // namespace

bool has_motion_derivatives(const Robot& robot) {
  const auto& joints = robot.tree().joints;
  return std::all_of(joints.begin() + 1, joints.end(),
                     [](const TreeJoint& joint) { return joint.kind != JointKind::kOther; });
}

void update_movers(const RobotData& data, Movers& movers) {
  const std::vector<TreeJoint>& joints = data.robot().tree().joints;
  movers.resize(static_cast<std::size_t>(data.robot().nv()));
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const TreeJoint& joint = joints[i];
    const BodyMotion& body = data.tree().bodies[i];
    for (Index k = 0; k < joint.nv; ++k) {
      Mover& mover = movers[static_cast<std::size_t>(joint.in_v + k)];
      mover.linear.setZero();
      mover.angular.setZero();
      mover.o = body.p;
      mover.joint = i;
      mover.parent = joint.parent;
      if (joint.kind == JointKind::kFree) {
        (k < 3 ? mover.linear : mover.angular) = Vector3d(body.R.columns[k % 3]);
      } else {
        (joint.kind == JointKind::kSlide ? mover.linear : mover.angular) = Vector3d(body.R * joint.axis);
      }
    }
  }
}

void BodyAccelerations::update(const RobotData& data, const Movers& movers, const VectorXd& dv) {
  const std::vector<TreeJoint>& joints = data.robot().tree().joints;
  linear_.assign(joints.size(), Vector3d::Zero());
  angular_.assign(joints.size(), Vector3d::Zero());
  for (std::size_t i = 1; i < joints.size(); ++i) {
    const std::size_t parent = joints[i].parent;
    const Vector3d p = origin_of(data, i);
    angular_[i] = angular_[parent];
    linear_[i] = linear_[parent] + angular_[parent].cross(p - origin_of(data, parent));
    for (Index k = joints[i].in_v; k < joints[i].in_v + joints[i].nv; ++k) {
      const Mover& mover = movers[static_cast<std::size_t>(k)];
      angular_[i] += dv(k) * mover.angular;
      linear_[i] += dv(k) * mover.at(p);
    }
  }
  for (std::size_t i = 1; i < joints.size(); ++i) {
    linear_[i] += Vector3d(data.tree().terms[i].a);
    angular_[i] += Vector3d(data.tree().terms[i].alpha);
  }
}

void update_point_tangent(const RobotData& data, const Movers& movers, std::size_t joint, const Vector3d& position,
                          const Vector3d& arm, PointTangent& out) {
  const std::vector<Index>& dofs = data.robot().supports(joint);
  out.dofs = &dofs;
  const auto size = static_cast<Index>(dofs.size());
  for (Matrix3Xd* each : {&out.J_omega, &out.position_by_q, &out.J, &out.velocity_by_q}) each->resize(3, size);
  const PointMotion point = point_motion(data, joint, position);
  const Vec3 c = point.position, u = point.velocity, omega = point.omega, a = arm;
  const bool has_arm = !arm.isZero(0.0);
  std::size_t parent = data.tree().bodies.size();
  Vec3 omega_p, past, turned;
  const auto write = [](const Vec3& x, double* to) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
  };
  for (Index i = 0; i < size; ++i) {
    const Mover& mover = movers[static_cast<std::size_t>(dofs[static_cast<std::size_t>(i)])];
    if (mover.parent != parent) {
      parent = mover.parent;
      const BodyMotion& before = data.tree().bodies[parent];
      omega_p = before.omega;
      past = u - (before.v + cross(omega_p, c - before.p));
      turned = omega - omega_p;
    }
    const Vec3 angular = mover.angular, r = Vec3(mover.linear) + cross(angular, c - Vec3(mover.o));
    Vec3 moved = r, by_q = cross(omega_p, r) + cross(angular, past);
    if (has_arm) {
      moved += cross(angular, a);
      by_q += cross(cross(angular, turned), a);
    }
    write(angular, out.J_omega.col(i).data());
    write(r, out.position_by_q.col(i).data());
    write(moved, out.J.col(i).data());
    write(by_q, out.velocity_by_q.col(i).data());
  }
}

void forces_of_wrenches(const RobotData& data, const Movers& movers, const std::vector<ExternalWrench>& wrenches,
                        RowMatrixXd& out) {
  out.setZero(data.robot().nv(), 6 * static_cast<Index>(wrenches.size()));
  for (std::size_t i = 0; i < wrenches.size(); ++i) {
    const Vector3d p = world_position(data, wrenches[i].joint, wrenches[i].position);
    for (const Index k : data.robot().supports(wrenches[i].joint)) {
      const Mover& mover = movers[static_cast<std::size_t>(k)];
      out.row(k).segment<6>(6 * static_cast<Index>(i)) << mover.at(p).transpose(), mover.angular.transpose();
    }
  }
}

void Momenta::update(const RobotData& data, const Movers& movers, const MatrixXd& rates) {
  const std::vector<TreeJoint>& joints = data.robot().tree().joints;
  const Index size = rates.cols();
  velocities_.resize(joints.size());
  momenta_.resize(joints.size());
  velocities_[0].setZero(6, size);
  for (std::size_t b = 1; b < joints.size(); ++b) {
    const std::size_t parent = joints[b].parent;
    const Vector3d p = origin_of(data, b), d = p - origin_of(data, parent);
    Columns& V = velocities_[b];
    V = velocities_[parent];
    for (Index i = 0; i < size; ++i) V.col(i).tail<3>() += Vector3d(V.col(i).head<3>()).cross(d);
    for (Index k = joints[b].in_v; k < joints[b].in_v + joints[b].nv; ++k) {
      const Mover& mover = movers[static_cast<std::size_t>(k)];
      Eigen::Matrix<double, 6, 1> S;
      S << mover.angular, mover.at(p);
      V.noalias() += S * rates.row(k);
    }
    const BodyTerms& terms = data.tree().terms[b];
    Columns& F = momenta_[b];
    F.resize(6, size);
    for (Index i = 0; i < size; ++i) {
      const Vec3 omega(V(0, i), V(1, i), V(2, i)), v(V(3, i), V(4, i), V(5, i));
      F.col(i).tail<3>() = Vector3d(joints[b].mass * v + cross(omega, terms.mc));
      F.col(i).head<3>() = Vector3d(terms.I * omega + cross(terms.mc, v));
    }
  }
  for (std::size_t b = joints.size() - 1; b > 0; --b) {
    const std::size_t parent = joints[b].parent;
    if (parent == 0) continue;
    const Vector3d d = origin_of(data, b) - origin_of(data, parent);
    for (Index i = 0; i < size; ++i) {
      const Vector3d P = momenta_[b].col(i).tail<3>();
      momenta_[parent].col(i).tail<3>() += P;
      momenta_[parent].col(i).head<3>() += momenta_[b].col(i).head<3>() + d.cross(P);
    }
  }
}

void Momenta::turn_back(const RobotData& data, const Mover& mover, Columns& out) const {
  const Columns& V = velocities_[mover.parent];
  const Vector3d to_o = mover.o - origin_of(data, mover.parent);
  out.resize(6, V.cols());
  for (Index i = 0; i < V.cols(); ++i) {
    const Vector3d omega = V.col(i).head<3>(), v = Vector3d(V.col(i).tail<3>()) + omega.cross(to_o);
    out.col(i).head<3>() = mover.angular.cross(omega);
    out.col(i).tail<3>() = mover.angular.cross(v) + mover.linear.cross(omega);
  }
}

void inertia_derivatives(const RobotData& data, const Movers& movers, const MatrixXd& rates, MatrixXd& by_q) {
  Momenta momenta;
  momenta.update(data, movers, rates);
  Momenta::Columns turned;
  by_q.resize(rates.cols(), static_cast<Index>(movers.size()));
  for (std::size_t k = 0; k < movers.size(); ++k) {
    momenta.turn_back(data, movers[k], turned);
    by_q.col(static_cast<Index>(k)) =
        -2.0 * turned.cwiseProduct(momenta.momentum(movers[k].joint)).colwise().sum().transpose();
  }
}

}  // namespace exposim
