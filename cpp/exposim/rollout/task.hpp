#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exposim/rollout/policy.hpp"
#include "exposim/rollout/series.hpp"
#include "exposim/simulator.hpp"

namespace exposim {

/// What rows of a rollout start from and are given.
struct RolloutTask {
  Eigen::Index rows = 0, steps = 0;
  Eigen::Index every = 1;  ///< steps from record to record
  Series states;           ///< packed, the same for all steps
  Channel tau, target, target_velocity;
  std::vector<WrenchChannel> wrenches;
  std::shared_ptr<const Policy> policy;  ///< may be null
  Series commands;                       ///< of the policy, the same for all steps
};

/// How a row ended.
enum class RowStatus : std::int32_t { kDone, kDiverged, kBadInput };
/// What of a row's input was bad.
enum class BadInput : std::int32_t { kNone, kState, kTau, kTarget, kTargetVelocity, kWrench, kAction };

/// Where what becomes of rows is written. Rows are apart, so that threads need not wait for each other; null: not asked
/// for. Records are (rows, steps / every, size).
struct RolloutRecords {
  double *q = nullptr, *v = nullptr, *t = nullptr, *states = nullptr, *forces = nullptr, *torques = nullptr;
  bool* active = nullptr;
  double* actions = nullptr;                           ///< of the policy
  std::vector<std::vector<double>>* events = nullptr;  ///< one to a row: those of Simulator, as event_row has them

  double* end = nullptr;  ///< packed states, (rows, size)
  std::int32_t *status = nullptr, *bad = nullptr;
  std::int64_t* stopped_at = nullptr;  ///< number of the step that was not taken, from 1; −1: all were

  std::mutex mutex;                                              // of what follows
  std::vector<std::pair<Eigen::Index, Divergence>> divergences;  ///< by row
  long overflows = 0;
};

/// Where derivatives of a step of every row are written; null: not asked for.
struct LinearizedRows {
  DerivativeRequest request;
  double* next = nullptr;        ///< packed states, (rows, size)
  double* x = nullptr;           ///< (rows, n, n), n the size of a tangent
  double* force = nullptr;       ///< (rows, n, nv)
  double* parameters = nullptr;  ///< (rows, n, np); of one world for all rows
  std::int32_t* bad = nullptr;   ///< what of a row's input was bad
  bool* diverged = nullptr;
  bool* differences = nullptr;      ///< whether it was done by finite differences
  std::int32_t* grazing = nullptr;  ///< how often a row is not differentiable
};

/// What threads that share out rows tell each other.
struct Sharing {
  std::atomic<Eigen::Index> next{0};   ///< row that nobody has begun
  std::atomic<std::int64_t> steps{0};  ///< taken, now and then
  std::atomic<bool> stop{false};
};

}  // namespace exposim
