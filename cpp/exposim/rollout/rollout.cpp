#include "exposim/rollout/rollout.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "exposim/robot/kinematics.hpp"
#include "exposim/thresholds.hpp"

namespace exposim {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{20};

/// Threads that help the calling one. Gone when it goes on, however it does.
class Helpers {
 public:
  explicit Helpers(Sharing& sharing) : sharing_(sharing) {}
  ~Helpers() {
    sharing_.stop = true;
    for (std::thread& each : threads_) each.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// @return false if the system has no more threads.
  template <typename Work>
  bool start(Work work) {
    try {
      threads_.emplace_back([this, work] {
        std::exception_ptr error;
        try {
          work();
        } catch (...) {
          error = std::current_exception();
          sharing_.stop = true;
        }
        const std::lock_guard lock(mutex_);
        if (error) error_ = error;
        ++done_;
        changed_.notify_one();
      });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  /// @return whether all have come to their end, of which there is none before a look is due.
  bool wait(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    const bool all = changed_.wait_until(lock, until, [this] { return done_ == threads_.size(); });
    if (error_) std::rethrow_exception(error_);
    return all;
  }

 private:
  Sharing& sharing_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

RowRunner& Rollout::runner(std::size_t k) {
  while (runners_.size() <= k) runners_.push_back(std::make_unique<RowRunner>(world_, integrator_, dt_));
  return *runners_[k];
}

template <typename Take>
void Rollout::share_out(Index rows, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
                        Sharing& sharing, const Look& look, Take&& take) {
  const auto count = static_cast<std::size_t>(std::clamp<Index>(rows, 1, threads));
  runner(count - 1);  // no thread makes one
  const auto take_rows = [&](std::size_t k, const RowRunner::Glance& glance) {
    for (Index row = sharing.next++; row < rows && !sharing.stop; row = sharing.next++) {
      take(*runners_[k], row, worlds.empty() ? world_ : worlds[static_cast<std::size_t>(row)], glance);
      if (glance) glance();
    }
  };
  Clock::time_point next_look = Clock::now() + kBetweenLooks;
  const RowRunner::Glance glance = [&] {
    if (Clock::now() < next_look) return;
    look(sharing.steps);
    next_look = Clock::now() + kBetweenLooks;
  };
  Helpers helpers(sharing);
  for (std::size_t k = 1; k < count; ++k) {
    if (!helpers.start([&, k] { take_rows(k, {}); })) break;
  }
  take_rows(0, glance);
  while (!helpers.wait(next_look)) glance();
}

void Rollout::run(const RolloutTask& task, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
                  RolloutRecords& records, const Look& look) {
  Sharing sharing;
  share_out(task.rows, worlds, threads, sharing, look,
            [&](RowRunner& runner, Index row, const std::shared_ptr<const World>& world,
                const RowRunner::Glance& glance) { runner.run(world, task, row, records, sharing, glance); });
}

void Rollout::linearize(const RolloutTask& task, const std::vector<std::shared_ptr<const World>>& worlds, int threads,
                        double dt, const LinearizedRows& rows, const Look& look) {
  Sharing sharing;
  share_out(task.rows, worlds, threads, sharing, look,
            [&](RowRunner& runner, Index row, const std::shared_ptr<const World>& world, const RowRunner::Glance&) {
              runner.linearize(world, task, row, dt, rows);
            });
}

Index Rollout::reset(Index rows, const Series& q, const Series& v,
                     const std::vector<std::shared_ptr<const World>>& worlds, double* end) {
  Simulator& simulator = runner(0).simulator();
  VectorXd start(world_->robot().nq()), velocity(world_->robot().nv());
  for (Index row = 0; row < rows; ++row) {
    simulator.enter(worlds.empty() ? world_ : worlds[static_cast<std::size_t>(row)]);
    const World& world = simulator.world();
    for (Index i = 0; i < start.size(); ++i) start(i) = q.at(row, 0, i);
    for (Index i = 0; i < velocity.size(); ++i) velocity(i) = v.at(row, 0, i);
    if (!start.allFinite() || !velocity.allFinite()) return row;
    if (!is_normalised(world.robot(), start, thresholds::kQuaternionTolerance)) return row;
    normalise(world.robot(), start);
    simulator.reset(start, velocity);
    world.pack(simulator.state(), VectorXd::Map(end + row * world.packed_size(), world.packed_size()));
  }
  return -1;
}

}  // namespace exposim
