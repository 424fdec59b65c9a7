#include "exposim/rollout/mlp.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

struct MlpMemory final : Policy::Memory {
  VectorXd command, added;
  std::vector<VectorXd> values;  // what every layer is given
};

double activated(Mlp::Activation activation, double x) {
  switch (activation) {
    case Mlp::Activation::kElu:
      return x > 0.0 ? x : std::expm1(x);
    case Mlp::Activation::kRelu:
      return std::max(x, 0.0);
    case Mlp::Activation::kTanh:
      return std::tanh(x);
  }
  return x;
}

}  // namespace

std::unique_ptr<Policy::Memory> Mlp::make_memory(const World& /*world*/) const {
  auto memory = std::make_unique<MlpMemory>();
  memory->action.setZero(size());
  memory->added.setZero(size());
  memory->command.setZero(options_.command);
  for (const Layer& layer : options_.layers) memory->values.emplace_back(VectorXd::Zero(layer.weights.cols()));
  return memory;
}

void Mlp::begin(const Series& commands, Index row, Memory& memory) const {
  auto& own = static_cast<MlpMemory&>(memory);
  own.action.setZero();
  for (Index i = 0; i < options_.command; ++i) own.command(i) = commands.at(row, 0, i);
}

void Mlp::act(Simulator& simulator, Index /*row*/, Index step, Memory& memory, Input& input) const {
  auto& own = static_cast<MlpMemory&>(memory);
  if (step % options_.hold != 0) {
    options_.to.add(own.added, input);
    return;
  }
  const State& state = simulator.state();
  double* next = own.values.front().data();
  const auto see = [&](double value) { *next++ = value; };
  for (const Seen each : options_.observation) {
    switch (each) {
      case Seen::kGravity: {
        const Eigen::Quaterniond turn(state.q(6), state.q(3), state.q(4), state.q(5));
        for (const double value : Eigen::Vector3d(turn.conjugate() * -Eigen::Vector3d::UnitZ())) see(value);
        break;
      }
      case Seen::kLinearVelocity:
        for (Index i = 0; i < 3; ++i) see(state.v(i));
        break;
      case Seen::kAngularVelocity:
        for (Index i = 3; i < 6; ++i) see(state.v(i));
        break;
      case Seen::kJointPositions:
        for (std::size_t k = 0; k < options_.in_q.size(); ++k) {
          see(state.q(options_.in_q[k]) - options_.rest(static_cast<Index>(k)));
        }
        break;
      case Seen::kJointVelocities:
        for (const Index i : options_.in_v) see(state.v(i));
        break;
      case Seen::kLastAction:
        for (const double value : own.action) see(value);
        break;
      case Seen::kCommand:
        for (const double value : own.command) see(value);
        break;
    }
  }
  for (std::size_t k = 0; k < options_.layers.size(); ++k) {
    const bool last = k + 1 == options_.layers.size();
    VectorXd& result = last ? own.action : own.values[k + 1];
    result = options_.layers[k].biases;
    result.noalias() += options_.layers[k].weights * own.values[k];
    if (last) continue;
    for (double& value : result) value = activated(options_.activation, value);
  }
  own.added = options_.offset + options_.scale.cwiseProduct(own.action);
  options_.to.add(own.added, input);
}

}  // namespace exposim
