#include "exposim/robot/tree.hpp"

#include <boost/variant.hpp>

#include "exposim/robot/pinocchio_model.hpp"

namespace exposim {

using Eigen::Vector3d;

namespace {

/// Finds what a joint does and about which axis.
struct Recognise : boost::static_visitor<void> {
  explicit Recognise(TreeJoint& found) : joint(found) {}

  template <typename Other>
  void operator()(const Other&) const {}
  template <typename Scalar, int Options, int axis>
  void operator()(const pinocchio::JointModelRevoluteTpl<Scalar, Options, axis>&) const {
    set(JointKind::kHinge, Vector3d::Unit(axis));
  }
  template <typename Scalar, int Options, int axis>
  void operator()(const pinocchio::JointModelRevoluteUnboundedTpl<Scalar, Options, axis>&) const {
    set(JointKind::kEndlessHinge, Vector3d::Unit(axis));
  }
  template <typename Scalar, int Options, int axis>
  void operator()(const pinocchio::JointModelPrismaticTpl<Scalar, Options, axis>&) const {
    set(JointKind::kSlide, Vector3d::Unit(axis));
  }
  void operator()(const pinocchio::JointModelRevoluteUnaligned& model) const { set(JointKind::kHinge, model.axis); }
  void operator()(const pinocchio::JointModelRevoluteUnboundedUnaligned& model) const {
    set(JointKind::kEndlessHinge, model.axis);
  }
  void operator()(const pinocchio::JointModelPrismaticUnaligned& model) const { set(JointKind::kSlide, model.axis); }
  void operator()(const pinocchio::JointModelFreeFlyer&) const { joint.kind = JointKind::kFree; }

  void set(JointKind kind, const Vector3d& axis) const {
    joint.kind = kind;
    joint.axis = axis;
    for (int k = 0; k < 3; ++k) {
      if (axis.cwiseAbs() != Vector3d::Unit(k)) continue;
      joint.along = k;
      joint.sign = axis[k];
    }
  }

  TreeJoint& joint;
};

}  // namespace

Tree::Tree(const PinocchioModel& pinocchio) : armature(pinocchio.model.armature) {
  const pinocchio::Model& model = pinocchio.model;
  gravity = Vec3(model.gravity.linear());
  joints.resize(static_cast<std::size_t>(model.njoints));
  for (std::size_t i = 0; i < joints.size(); ++i) {
    TreeJoint& joint = joints[i];
    const pinocchio::SE3& placement = model.jointPlacements[i];
    const pinocchio::Inertia& body = model.inertias[i];
    joint.turned = placement.rotation() != Eigen::Matrix3d::Identity();
    joint.turn = Mat3::of(placement.rotation());
    joint.shift = Vec3(placement.translation());
    joint.mass = body.mass();
    joint.mc = body.mass() * Vec3(body.lever());
    const Vector3d c = body.lever();
    const Eigen::Matrix3d I =
        body.inertia().matrix() + body.mass() * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
    joint.I = {I(0, 0), I(0, 1), I(1, 1), I(0, 2), I(1, 2), I(2, 2)};
    if (i == 0) continue;
    joint.parent = model.parents[i];
    joint.in_q = model.idx_qs[i];
    joint.in_v = model.idx_vs[i];
    joint.nv = model.nvs[i];
    boost::apply_visitor(Recognise(joint), model.joints[i].toVariant());
    has_others |= joint.kind == JointKind::kOther;
    if (joint.kind == JointKind::kHinge) hinges.push_back(i);
    if (joint.kind == JointKind::kFree && joint.parent == 0) {
      free_bodies.push_back(i);
      if (model.children[i].empty()) joint.lever = Vec3(c);
    }
    const TreeJoint& parent = joints[joint.parent];
    joint.depth = parent.depth + parent.nv;
    joint.first = packed;
    packed += static_cast<std::size_t>(joint.nv * joint.depth + joint.nv * (joint.nv + 1) / 2);
  }
}

}  // namespace exposim
