#include "exposim/robot/pinocchio_joints.hpp"

#include <boost/variant.hpp>
#include <pinocchio/multibody/joint.hpp>

#include "exposim/robot/pinocchio_model.hpp"

namespace exposim {

using Eigen::VectorXd;

struct PinocchioJoints::Joints {
  const pinocchio::Model& model;
  std::vector<pinocchio::JointData> data;  // empty where they are not needed
};

namespace {

/// A column of the motion subspace; by this way, unlike by S() of the variant, without an allocation.
struct ReadColumn : boost::static_visitor<JointColumn> {
  explicit ReadColumn(Eigen::Index which) : k(which) {}

  template <typename JointData>
  JointColumn operator()(const JointData& data) const {
    const auto& S = data.S_accessor().matrix();
    return {{S(0, k), S(1, k), S(2, k)}, {S(3, k), S(4, k), S(5, k)}};
  }

  Eigen::Index k;
};

}  // namespace

PinocchioJoints::PinocchioJoints(const PinocchioModel& pinocchio, const Tree& tree)
    : joints_(new Joints{pinocchio.model, std::vector<pinocchio::JointData>(tree.joints.size())}) {
  for (std::size_t i = 1; i < tree.joints.size(); ++i) {
    if (tree.joints[i].kind == JointKind::kOther) joints_->data[i] = pinocchio.model.joints[i].createData();
  }
}

PinocchioJoints::PinocchioJoints(PinocchioJoints&&) noexcept = default;
PinocchioJoints& PinocchioJoints::operator=(PinocchioJoints&&) noexcept = default;
PinocchioJoints::~PinocchioJoints() = default;

JointPlacement PinocchioJoints::place(std::size_t joint, const VectorXd& q) {
  joints_->model.joints[joint].calc(joints_->data[joint], q);
  const pinocchio::SE3 M = joints_->data[joint].M();
  return {Mat3::of(M.rotation()), Vec3(M.translation())};
}

JointColumn PinocchioJoints::column(std::size_t joint, Eigen::Index k) const {
  return boost::apply_visitor(ReadColumn(k), joints_->data[joint].toVariant());
}

JointRates PinocchioJoints::move(std::size_t joint, const VectorXd& q, const VectorXd& v) {
  pinocchio::JointData& data = joints_->data[joint];
  joints_->model.joints[joint].calc(data, q, v);
  const pinocchio::Motion rate = data.v(), drift = data.c();
  return {Vec3(rate.linear()), Vec3(rate.angular()), Vec3(drift.linear()), Vec3(drift.angular())};
}

}  // namespace exposim
