#include "exposim/robot/robot.hpp"

#include <algorithm>
#include <boost/archive/text_iarchive.hpp>
#include <boost/archive/text_oarchive.hpp>
#include <boost/math/special_functions/nonfinite_num_facets.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/set.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/variant.hpp>
#include <boost/serialization/vector.hpp>
#include <locale>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <pinocchio/serialization/archive.hpp>
#include <pinocchio/serialization/eigen.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

// Pinocchio's umbrella header pinocchio/serialization.hpp brings in its constraints, which GCC 12 does not
// compile, and costs a minute. What follows is the part of it that a model needs, in its order.
// clang-format off
#include <pinocchio/src/serialization/fwd.hxx>
#include <pinocchio/src/serialization/common.hxx>
#include <pinocchio/src/serialization/boost-blank.hxx>
#include <pinocchio/src/serialization/vector.hxx>
#include <pinocchio/src/serialization/symmetric3.hxx>
#include <pinocchio/src/serialization/se3.hxx>
#include <pinocchio/src/serialization/motion.hxx>
#include <pinocchio/src/serialization/force.hxx>
#include <pinocchio/src/serialization/inertia.hxx>
#include <pinocchio/src/serialization/joints-motion-subspace.hxx>
#include <pinocchio/src/serialization/joints-motion.hxx>
#include <pinocchio/src/serialization/joints-transform.hxx>
#include <pinocchio/src/serialization/joints-data.hxx>
#include <pinocchio/src/serialization/joints-model.hxx>
#include <pinocchio/src/serialization/frame.hxx>
#include <pinocchio/src/serialization/model.hxx>
// clang-format on

#include "exposim/robot/pinocchio_model.hpp"
#include "exposim/robot/tree.hpp"

namespace exposim {
namespace {

/// Whether a body is the same however its joint turns it: a rotor about its axis, or a ball, which carries nothing.
bool turns_unnoticed(const pinocchio::Model& model, std::size_t joint, const std::string& kind,
                     const std::vector<ContactPoint>& points) {
  constexpr double kRound = 1e-3;  // how far from round it may be, relative to its inertia
  const bool ball = kind == "JointModelFreeFlyer" || kind == "JointModelSpherical";
  const std::string revolute = kind.substr(0, kind.size() - 1);
  if (!ball && revolute != "JointModelR" && revolute != "JointModelRUB") return false;
  if (!model.children[joint].empty()) return false;
  const pinocchio::Inertia& body = model.inertias[joint];
  const Eigen::Matrix3d I = body.inertia().matrix();
  const double most = I.diagonal().maxCoeff();
  const int axis = ball ? 0 : kind.back() - 'X', a = (axis + 1) % 3;
  Eigen::Vector3d off = body.lever();
  Eigen::Matrix3d uneven = I;
  if (!ball) off(axis) = 0.0;
  uneven.diagonal().array() -= I(a, a);
  if (!ball) uneven(axis, axis) = 0.0;
  if (axis < 0 || axis > 2 || uneven.cwiseAbs().maxCoeff() > kRound * most) return false;
  if (body.mass() * off.squaredNorm() > kRound * most) return false;
  return std::all_of(points.begin(), points.end(), [&](const ContactPoint& point) {
    return point.joint != joint || (ball && point.position.isZero(0.0));
  });
}

/// The seam to pinocchio.Model in Python, whose objects other binding libraries cannot take.
std::shared_ptr<const PinocchioModel> load_model(const std::string& serialized_model,
                                                 const std::vector<ContactPoint>& points) {
  auto loaded = std::make_shared<PinocchioModel>();
  try {
    std::istringstream stream(serialized_model);
    stream.imbue(std::locale(stream.getloc(), new boost::math::nonfinite_num_get<char>));  // infinite joint limits
    pinocchio::serialization::loadFromStringStream(loaded->model, stream);
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string("cannot read the serialized model: ") + error.what());
  }
  const pinocchio::Model& model = loaded->model;
  for (std::size_t joint = 1; joint < static_cast<std::size_t>(model.njoints); ++joint) {
    const std::string kind = model.joints[joint].shortname();
    if (!turns_unnoticed(model, joint, kind, points)) loaded->turning.push_back(joint);
  }
  return loaded;
}

}  // namespace

Robot::Robot(const std::string& serialized_model, std::vector<ContactPoint> points, std::vector<int> actuated)
    : pinocchio_(load_model(serialized_model, points)),
      first_(pinocchio_),
      tree_(std::make_shared<const Tree>(*pinocchio_)),
      points_(std::move(points)),
      actuated_(std::move(actuated)),
      in_q_(static_cast<std::size_t>(pinocchio_->model.nv), -1),
      damping_(pinocchio_->model.damping),
      nq_(pinocchio_->model.nq),
      nv_(pinocchio_->model.nv) {
  const pinocchio::Model& model = pinocchio_->model;
  supports_.resize(static_cast<std::size_t>(model.njoints));
  for (std::size_t joint = 1; joint < static_cast<std::size_t>(model.njoints); ++joint) {
    supports_[joint] = supports_[model.parents[joint]];
    for (int i = 0; i < model.nvs[joint]; ++i) supports_[joint].push_back(model.idx_vs[joint] + i);
    joint_of_.insert(joint_of_.end(), static_cast<std::size_t>(model.nvs[joint]), joint);
    if (model.nqs[joint] == 1 && model.nvs[joint] == 1) {
      in_q_[static_cast<std::size_t>(model.idx_vs[joint])] = model.idx_qs[joint];
    }
  }
}

std::shared_ptr<Robot> Robot::with_masses(const std::vector<std::pair<std::size_t, double>>& masses) const {
  const auto changed = std::make_shared<PinocchioModel>(*pinocchio_);
  for (const auto& [joint, mass] : masses) {
    pinocchio::Inertia& body = changed->model.inertias[joint];
    if (mass == body.mass()) continue;
    const Eigen::Matrix3d I = body.inertia().matrix() * (mass / body.mass());
    body = pinocchio::Inertia(mass, body.lever(), I);
  }
  auto robot = std::make_shared<Robot>(*this);
  robot->pinocchio_ = changed;
  robot->tree_ = std::make_shared<const Tree>(*changed);
  return robot;
}

void Robot::copy_joint(Eigen::Index dof, const Eigen::VectorXd& from, Eigen::VectorXd& to) const {
  const pinocchio::Model& model = pinocchio_->model;
  const std::size_t joint = joint_of(dof);
  to.segment(model.idx_qs[joint], model.nqs[joint]) = from.segment(model.idx_qs[joint], model.nqs[joint]);
}

}  // namespace exposim
