#include <nanobind/eigen/dense.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "bindings.hpp"
#include "exposim/rollout/linear_policy.hpp"
#include "exposim/rollout/mlp.hpp"

namespace nb = nanobind;

namespace exposim {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Given = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// A copy of (rows, steps, size).
Kept kept(const Given& array) {
  return {VectorXd::Map(array.data(), static_cast<Index>(array.size())), static_cast<Index>(array.shape(0)),
          static_cast<Index>(array.shape(1)), static_cast<Index>(array.shape(2))};
}

}  // namespace

void bind_policies(nb::module_& m) {
  nb::class_<Policy>(m, "Policy");
  nb::class_<LinearPolicy, Policy>(m, "LinearPolicy")
      .def(
          "__init__",
          [](LinearPolicy* self, const Given& gain, const Given& q, const Given& v, bool torques,
             std::vector<Index> entries, Index hold) {
            if (static_cast<Index>(gain.shape(2)) != static_cast<Index>(2 * entries.size() * v.shape(2)) || hold < 1) {
              throw std::invalid_argument("the gain has another size");
            }
            new (self) LinearPolicy(kept(gain), kept(q), kept(v), {torques, std::move(entries)}, hold);
          },
          nb::arg("gain"), nb::arg("q"), nb::arg("v"), nb::arg("torques"), nb::arg("entries"), nb::arg("hold"));

  nb::class_<Mlp, Policy> mlp(m, "MLP");
  nb::enum_<Mlp::Activation>(mlp, "Activation")
      .value("elu", Mlp::Activation::kElu)
      .value("relu", Mlp::Activation::kRelu)
      .value("tanh", Mlp::Activation::kTanh);
  nb::enum_<Mlp::Seen>(mlp, "Seen")
      .value("gravity", Mlp::Seen::kGravity)
      .value("linear_velocity", Mlp::Seen::kLinearVelocity)
      .value("angular_velocity", Mlp::Seen::kAngularVelocity)
      .value("joint_positions", Mlp::Seen::kJointPositions)
      .value("joint_velocities", Mlp::Seen::kJointVelocities)
      .value("last_action", Mlp::Seen::kLastAction)
      .value("command", Mlp::Seen::kCommand);
  mlp.def(
      "__init__",
      [](Mlp* self, const std::vector<std::pair<RowMatrixXd, VectorXd>>& layers, Mlp::Activation activation,
         std::vector<Mlp::Seen> observation, const VectorXd& scale, const VectorXd& offset, std::vector<Index> in_q,
         std::vector<Index> in_v, const VectorXd& rest, Index command, bool torques, std::vector<Index> entries,
         Index hold) {
        Mlp::Options options{
            {},   activation, std::move(observation),        scale, offset, std::move(in_q), std::move(in_v),
            rest, command,    {torques, std::move(entries)}, hold};
        for (const auto& [weights, biases] : layers) options.layers.push_back({weights, biases});
        new (self) Mlp(std::move(options));
      },
      nb::arg("layers"), nb::arg("activation"), nb::arg("observation"), nb::arg("scale"), nb::arg("offset"),
      nb::arg("in_q"), nb::arg("in_v"), nb::arg("rest"), nb::arg("command"), nb::arg("torques"), nb::arg("entries"),
      nb::arg("hold"));
}

}  // namespace exposim
