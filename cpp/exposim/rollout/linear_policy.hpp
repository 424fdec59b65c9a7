#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "exposim/rollout/policy.hpp"

namespace exposim {

/// Where an action goes: added to the torques along these degrees of freedom, or to these entries of the target.
struct ActionTarget {
  bool torques;
  std::vector<Eigen::Index> entries;

  void add(const Eigen::VectorXd& action, Input& input) const {
    Eigen::VectorXd& to = torques ? input.tau : input.target;
    for (std::size_t k = 0; k < entries.size(); ++k) to(entries[k]) += action(static_cast<Eigen::Index>(k));
  }
};

/// Numbers by row and step that are kept; where there is one of either, it is that for all.
struct Kept {
  Eigen::VectorXd values;
  Eigen::Index rows, steps, size;

  const double* at(Eigen::Index row, Eigen::Index step) const {
    return values.data() + ((rows > 1 ? row : 0) * steps + (steps > 1 ? step : 0)) * size;
  }
};

/// Linear feedback, K (x ⊖ x_ref) with x ⊖ x_ref = (q ⊖ q_ref, v − v_ref).
class LinearPolicy final : public Policy {
 public:
  /// @param gain row-major, (entries, 2 nv). @param q, v references.
  /// @param hold steps for which an action is applied.
  LinearPolicy(Kept gain, Kept q, Kept v, ActionTarget to, Eigen::Index hold)
      : gain_(std::move(gain)), q_(std::move(q)), v_(std::move(v)), to_(std::move(to)), hold_(hold) {}

  std::unique_ptr<Memory> make_memory(const World& world) const override;
  Eigen::Index size() const override { return static_cast<Eigen::Index>(to_.entries.size()); }
  void begin(const Series& commands, Eigen::Index row, Memory& memory) const override;
  void act(Simulator& simulator, Eigen::Index row, Eigen::Index step, Memory& memory, Input& input) const override;

 private:
  Kept gain_, q_, v_;
  ActionTarget to_;
  Eigen::Index hold_;
};

}  // namespace exposim
