#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace exposim {

/// Someone else is at work in what was to be used, or was and never came back.
struct Busy : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Lets one thread at a time have something, as often as it likes.
///
/// Who has it is one word, which says the process too: in the child of a fork only one thread goes on, and what another
/// one had there is in the middle of something for ever. A mutex would wait for ever; a condition variable, likewise in
/// whatever state it was. Those who wait look again every now and then.
class Turns {
 public:
  /// @return whether it came to this thread within that time.
  /// @throws Busy if a thread has it that a fork left behind.
  bool take(std::chrono::milliseconds patience) {
    if (take_now()) return true;
    const Waiting waiting(waiting_);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kBetweenLooks);
      if (take_now()) return true;
    }
    return false;
  }

  void give_back() {
    if (--depth_ == 0) holder_.store(nullptr, std::memory_order_release);
  }

  /// For one who takes it again and again: gives others the time to look.
  void let_others_look() const {
    if (waiting_.load(std::memory_order_relaxed) > 0) std::this_thread::sleep_for(4 * kBetweenLooks);
  }

  /// Whether a thread has it that a fork left behind.
  bool is_left_behind() const {
    const Holder* holder = holder_.load(std::memory_order_acquire);
    return holder && holder->process != process();
  }

 private:
  static constexpr std::chrono::microseconds kBetweenLooks{100};

  struct Holder {
    pid_t process;
    pthread_t thread;
  };

  struct Waiting {
    explicit Waiting(std::atomic<int>& count) : count_(count) { ++count_; }
    ~Waiting() { --count_; }
    std::atomic<int>& count_;
  };

  /// As getpid(), without asking the kernel each time.
  static pid_t process() {
    static std::atomic<pid_t> known{(pthread_atfork(nullptr, nullptr, [] { known = getpid(); }), getpid())};
    return known.load(std::memory_order_relaxed);
  }

  /// This thread's, never deleted: others may still be looking at it when it ends.
  static const Holder* self() {
    static thread_local const Holder* own = nullptr;
    if (!own || own->process != process()) own = new Holder{process(), pthread_self()};
    return own;
  }

  bool take_now() {
    const Holder* own = self();
    const Holder* holder = nullptr;
    if (holder_.compare_exchange_strong(holder, own, std::memory_order_acquire)) {
      depth_ = 1;
      return true;
    }
    if (holder->process != own->process) {
      throw Busy(
          "the simulator was in the middle of a step of another thread when this process was forked, and is not whole "
          "here; make a new one in the child, or fork while no thread steps");
    }
    if (!pthread_equal(holder->thread, own->thread)) return false;
    ++depth_;
    return true;
  }

  std::atomic<const Holder*> holder_{nullptr};
  std::atomic<int> waiting_{0};
  int depth_ = 0;  // of the holder
};

}  // namespace exposim
