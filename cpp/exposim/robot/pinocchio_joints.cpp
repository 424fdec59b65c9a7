#include "exposim/robot/pinocchio_joints.hpp"

#include <boost/variant.hpp>
#include <pinocchio/multibody/joint.hpp>

#include "exposim/robot/pinocchio_model.hpp"

namespace exposim {

using Eigen::Vector3d;
using Eigen::VectorXd;

struct PinocchioJoints::Joints {
  const pinocchio::Model& model;
  std::vector<pinocchio::JointData> data;  // empty where they are not needed
};

namespace {

/// A column of the motion subspace; by this way, unlike S() of the variant, without an allocation.
struct ReadColumn : boost::static_visitor<void> {
  ReadColumn(Eigen::Index which, Vector3d& l, Vector3d& a) : k(which), linear(l), angular(a) {}

  template <typename JointData>
  void operator()(const JointData& data) const {
    const auto& S = data.S_accessor().matrix();
    linear = S.col(k).template head<3>();
    angular = S.col(k).template tail<3>();
  }
  void operator()(const boost::blank&) const {}

  Eigen::Index k;
  Vector3d &linear, &angular;
};

}  // namespace

PinocchioJoints::PinocchioJoints(const PinocchioModel& pinocchio, const Tree& tree)
    : joints_(new Joints{pinocchio.model, std::vector<pinocchio::JointData>(tree.joints.size())}) {
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    if (tree.joints[i].kind == JointKind::kOther) joints_->data[i] = pinocchio.model.joints[i].createData();
  }
}

PinocchioJoints::PinocchioJoints(PinocchioJoints&&) noexcept = default;
PinocchioJoints::~PinocchioJoints() = default;

void PinocchioJoints::place(std::size_t joint, const VectorXd& q, Eigen::Matrix3d& R, Vector3d& p) {
  joints_->model.joints[joint].calc(joints_->data[joint], q);
  const pinocchio::SE3 M = joints_->data[joint].M();
  R = M.rotation();
  p = M.translation();
}

void PinocchioJoints::column(std::size_t joint, Eigen::Index k, Vector3d& linear, Vector3d& angular) const {
  boost::apply_visitor(ReadColumn(k, linear, angular), joints_->data[joint].toVariant());
}

JointRates PinocchioJoints::move(std::size_t joint, const VectorXd& q, const VectorXd& v) {
  pinocchio::JointData& data = joints_->data[joint];
  joints_->model.joints[joint].calc(data, q, v);
  const pinocchio::Motion rate = data.v(), drift = data.c();
  return {rate.linear(), rate.angular(), drift.linear(), drift.angular()};
}

}  // namespace exposim
