#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>

#include "exposim/rollout/task.hpp"

namespace exposim {

/// One thread's part of a rollout: a simulator that takes one row after the other. No step allocates memory.
class RowRunner {
 public:
  RowRunner(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt);

  /// Called between steps, by the thread that has to look around; it may throw.
  using Glance = std::function<void()>;

  /// Runs a row to its end, or until it diverges, or all are to stop.
  /// @param world of the row.
  /// @param glance may be empty.
  void run(const std::shared_ptr<const World>& world, const RolloutTask& task, Eigen::Index row,
           RolloutRecords& records, Sharing& sharing, const Glance& glance);

  /// Derivatives of a step of a row; where there are none, NaN.
  void linearize(const std::shared_ptr<const World>& world, const RolloutTask& task, Eigen::Index row, double dt,
                 const LinearizedRows& rows);

  Simulator& simulator() { return simulator_; }

 private:
  /// @return what of the input of a step is bad.
  BadInput read_input(const RolloutTask& task, Eigen::Index row, Eigen::Index step);
  void prepare(const RolloutTask& task, Eigen::Index row);
  void write(const RolloutTask& task, Eigen::Index row, Eigen::Index record, RolloutRecords& records) const;
  void write_nothing(const RolloutTask& task, Eigen::Index row, RolloutRecords& records) const;
  void finish(Eigen::Index row, RolloutRecords& records) const;

  Simulator simulator_;
  Input input_;
  Eigen::VectorXd start_;
  StepDerivatives derivatives_;
  Eigen::VectorXd torques_;               // of the last step that was taken
  std::shared_ptr<const Policy> policy_;  // that the memory is of
  std::unique_ptr<Policy::Memory> memory_;
};

}  // namespace exposim
