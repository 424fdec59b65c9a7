#pragma once

#include <Eigen/Core>
#include <memory>

#include "exposim/robot/input.hpp"
#include "exposim/rollout/series.hpp"
#include "exposim/simulator.hpp"

namespace exposim {

/// Feedback within a rollout. Never changes; shared by all threads.
class Policy {
 public:
  /// What one thread works in, and what a row has of its own.
  struct Memory {
    virtual ~Memory() = default;
    Eigen::VectorXd action;  ///< the last one
  };

  virtual ~Policy() = default;
  virtual std::unique_ptr<Memory> make_memory(const World& world) const = 0;
  /// Entries of an action.
  virtual Eigen::Index size() const = 0;

  /// A row begins.
  /// @param commands of rows, the same for all steps; may be missing.
  virtual void begin(const Series& commands, Eigen::Index row, Memory& memory) const = 0;
  /// Changes the input of a step, which has what was given for it, by where the simulator is.
  virtual void act(Simulator& simulator, Eigen::Index row, Eigen::Index step, Memory& memory, Input& input) const = 0;
};

}  // namespace exposim
