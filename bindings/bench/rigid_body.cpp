#include "rigid_body.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <string>

#include "exposim/robot/jacobians.hpp"
#include "exposim/robot/kinematics.hpp"
#include "exposim/robot/mass_matrix.hpp"
#include "exposim/robot/pinocchio_model.hpp"
#include "shared_simulator.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using ConstRef = Eigen::Ref<const VectorXd>;
using Clock = std::chrono::steady_clock;
using Arrays = std::map<std::string, MatrixXd>;

/// Placements and velocities of all bodies: a row of 12 and one of 6 for each.
Arrays motions(const RobotData& data) {
  const auto count = static_cast<Index>(data.robot().tree().joints.size());
  MatrixXd placements(count, 12), velocities(count, 6);
  for (Index i = 0; i < count; ++i) {
    const auto joint = static_cast<std::size_t>(i);
    const PointMotion origin = point_motion(data, joint, Vector3d::Zero());
    const Eigen::Matrix3d R = rotation(data, joint);
    placements.row(i) << R.row(0), R.row(1), R.row(2), origin.position.transpose();
    velocities.row(i) << origin.velocity.transpose(), origin.omega.transpose();
  }
  return {{"placements", placements}, {"velocities", velocities}};
}

/// These, M, h, and of every body at the origin of its frame the Jacobian and the drift.
Arrays terms(const RobotData& data) {
  Arrays result = motions(data);
  const Index nv = data.robot().nv(), count = result["placements"].rows();
  MatrixXd M = MatrixXd::Zero(nv, nv), J = MatrixXd::Zero(6 * count, nv), drifts(count, 6);
  VectorXd u;
  applied_force(data, VectorXd::Zero(nv), {}, u);
  for (Index i = 0; i < count; ++i) {
    const auto joint = static_cast<std::size_t>(i);
    const std::vector<Index>& dofs = data.robot().supports(joint);
    const Vector3d p = world_position(data, joint, Vector3d::Zero());
    MatrixXd rows = MatrixXd::Zero(6, static_cast<Index>(dofs.size()));
    add_jacobian_transpose(data, joint, p, 1.0, dofs.data(), 6, rows.data());
    for (std::size_t k = 0; k < dofs.size(); ++k) J.block<6, 1>(6 * i, dofs[k]) = rows.col(static_cast<Index>(k));
    drifts.row(i) << point_drift(data, joint, p).transpose(), angular_drift(data, joint).transpose();
    for (std::size_t k = 0; k < dofs.size(); ++k) {  // a column goes upwards from its diagonal
      const std::size_t first = data.factor().first(dofs[k]);
      for (std::size_t s = 0; s <= k; ++s) M(dofs[k - s], dofs[k]) = data.tree().M[first + s];
    }
  }
  M.triangularView<Eigen::StrictlyLower>() = M.transpose();
  result.insert({{"M", M}, {"h", -u}, {"J", J}, {"drifts", drifts}});
  return result;
}

Arrays kinematics(SharedSimulator& self, const VectorXd& q, const VectorXd& v) {
  return self.alone([&](Simulator& simulator) {
    RobotData data(simulator.world().shared_robot());
    update_kinematics(data, q, v);
    return motions(data);
  });
}

/// @param v_before where the terms are taken, if any; then at v what depends on velocity, again.
Arrays rigid_body_terms(SharedSimulator& self, const VectorXd& q, const VectorXd& v,
                        const std::optional<VectorXd>& v_before) {
  return self.alone([&](Simulator& simulator) {
    RobotData data(simulator.world().shared_robot());
    update_terms(data, q, v_before ? *v_before : v);
    if (v_before) update_bias(data, q, v);
    return terms(data);
  });
}

/// Seconds of a call, the least mean of some calls in a row.
template <typename Call>
double seconds(Call&& call) {
  constexpr int kCalls = 200, kRepeats = 50;
  double least = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Clock::time_point start = Clock::now();
    for (int k = 0; k < kCalls; ++k) call();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count() / kCalls);
  }
  return least;
}

/// Seconds of our updates at (q, v) and of the calls of Pinocchio that do the same.
std::map<std::string, double> time_rigid_body_terms(SharedSimulator& self, const VectorXd& q, const VectorXd& v) {
  return self.alone([&](Simulator& simulator) {
    RobotData data(simulator.world().shared_robot());
    const pinocchio::Model& model = data.robot().pinocchio().model;
    pinocchio::Data theirs(model);
    std::map<std::string, double> result;
    result["update_terms"] = seconds([&] { update_terms(data, q, v); });
    result["update_bias"] = seconds([&] { update_bias(data, q, v); });
    result["factor"] = seconds([&] { factor(data); });
    result["update_kinematics"] = seconds([&] {
      data.tree().placed = false;
      update_kinematics(data, q, v);
    });
    result["crba"] = seconds([&] { pinocchio::crba(model, theirs, ConstRef(q), pinocchio::Convention::WORLD); });
    result["nonLinearEffects"] = seconds([&] { pinocchio::nonLinearEffects(model, theirs, ConstRef(q), ConstRef(v)); });
    result["forwardKinematics"] =
        seconds([&] { pinocchio::forwardKinematics(model, theirs, ConstRef(q), ConstRef(v)); });
    return result;
  });
}

}  // namespace

void bind_rigid_body(nb::module_& m) {
  m.def("kinematics", &kinematics, nb::arg("simulator"), nb::arg("q"), nb::arg("v"));
  m.def("rigid_body_terms", &rigid_body_terms, nb::arg("simulator"), nb::arg("q"), nb::arg("v"),
        nb::arg("v_before") = nb::none());
  m.def("time_rigid_body_terms", &time_rigid_body_terms, nb::arg("simulator"), nb::arg("q"), nb::arg("v"));
}

}  // namespace exposim
