#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace exposim {

/// Parts of a step, as the paper's table of computation times has them.
enum class Stage : std::size_t {
  kContacts,     ///< kinematics of the contact points, contact law
  kTerms,        ///< rigid-body terms, linear contact dynamics or accelerations
  kKernel,       ///< integrals of the exponential; Newton's linear systems
  kIntegration,  ///< new velocity and configuration
};

/// Adds up where the time of steps goes; off, it costs a comparison.
class Profiler {
 public:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    long count = 0;
    Clock::duration total{0};
  };

  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }
  void clear() { entries_ = {}; }
  const Entry& entry(Stage stage) const { return entries_[static_cast<std::size_t>(stage)]; }

  /// Times the stage until the end of the scope.
  class Scope {
   public:
    Scope(Profiler& profiler, Stage stage) : profiler_(profiler.enabled_ ? &profiler : nullptr), stage_(stage) {
      if (profiler_) start_ = Clock::now();
    }
    ~Scope() {
      if (!profiler_) return;
      Entry& entry = profiler_->entries_[static_cast<std::size_t>(stage_)];
      entry.total += Clock::now() - start_;
      ++entry.count;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Profiler* profiler_;
    Stage stage_;
    Clock::time_point start_;
  };

 private:
  bool enabled_ = false;
  std::array<Entry, 4> entries_{};
};

}  // namespace exposim
