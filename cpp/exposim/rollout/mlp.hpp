#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/rollout/linear_policy.hpp"
#include "exposim/rollout/policy.hpp"

namespace exposim {

/// A small neural network: layers of W x + b with an activation in between, the last one without.
class Mlp final : public Policy {
 public:
  enum class Activation : unsigned char { kElu, kRelu, kTanh };
  /// What it sees, one behind the other. Of a free base at the beginning of q: the direction of gravity, its velocity
  /// and its angular velocity in its own axes. Of the actuated joints: positions less those at rest, velocities.
  enum class Seen : unsigned char {
    kGravity,
    kLinearVelocity,
    kAngularVelocity,
    kJointPositions,
    kJointVelocities,
    kLastAction,
    kCommand
  };
  struct Layer {
    RowMatrixXd weights;
    Eigen::VectorXd biases;
  };
  struct Options {
    std::vector<Layer> layers;
    Activation activation;
    std::vector<Seen> observation;
    Eigen::VectorXd scale, offset;         ///< the input is added offset + scale × action
    std::vector<Eigen::Index> in_q, in_v;  ///< of the joints that are seen
    Eigen::VectorXd rest;                  ///< their positions at rest
    Eigen::Index command = 0;              ///< entries of a command
    ActionTarget to;
    Eigen::Index hold;  ///< steps for which an action is applied
  };

  explicit Mlp(Options options) : options_(std::move(options)) {}

  std::unique_ptr<Memory> make_memory(const World& world) const override;
  Eigen::Index size() const override { return options_.layers.back().biases.size(); }
  void begin(const Series& commands, Eigen::Index row, Memory& memory) const override;
  void act(Simulator& simulator, Eigen::Index row, Eigen::Index step, Memory& memory, Input& input) const override;

 private:
  Options options_;
};

}  // namespace exposim
