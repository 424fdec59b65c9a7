#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "exposim/rollout/row_runner.hpp"

namespace exposim {

/// Rows of steps, each from a state of its own with an input of its own, shared out among threads.
///
/// What becomes of a row depends on the row alone: not on the number of threads, nor on which of them takes it, nor on
/// what they did before. Threads live as long as a call; what they work in is kept for the next one.
class Rollout {
 public:
  Rollout(std::shared_ptr<const World> world, std::shared_ptr<const Integrator> integrator, double dt)
      : world_(std::move(world)), integrator_(std::move(integrator)), dt_(dt) {}

  /// Called by the calling thread every few hundredths of a second, with the number of steps taken so far. If it
  /// throws, all threads stop, and what it threw comes through.
  using Look = std::function<void(std::int64_t)>;

  /// @param worlds of the rows, of the same layout; empty: that of the rollout.
  /// @param threads the calling one among them; at least 1.
  void run(const RolloutTask& task, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
           RolloutRecords& records, const Look& look);

  /// Differentiates a step of dt of every row, by its first input.
  void linearize(const RolloutTask& task, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
                 double dt, const LinearizedRows& rows, const Look& look);

  /// Starts rows at (q, v) without history, as Simulator::reset does.
  /// @param q, v one to a row.
  /// @param end packed states, (rows, size).
  /// @return the first row whose q or v cannot be, or −1.
  Eigen::Index reset(Eigen::Index rows, const Series& q, const Series& v,
                     const std::vector<std::shared_ptr<const World>>& worlds, double* end);

  const World& world() const { return *world_; }

 private:
  RowRunner& runner(std::size_t k);
  /// Shares out rows among threads. @param take (runner, row, world, glance).
  template <typename Take>
  void share_out(Eigen::Index rows, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
                 Sharing& sharing, const Look& look, Take&& take);

  std::shared_ptr<const World> world_;
  std::shared_ptr<const Integrator> integrator_;
  double dt_;
  std::vector<std::unique_ptr<RowRunner>> runners_;  // one to a thread, made when it is needed
};

}  // namespace exposim
