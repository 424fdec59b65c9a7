#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <memory>
#include <utility>

#include "interpreter_lock.hpp"
#include "turns.hpp"

namespace exposim {

/// Something that simulates, and that several Python threads may touch: one at a time, without the interpreter lock.
///
/// A surface written in Python is called while it works, by the same thread, and may look at it then, not move it.
/// In the child of a fork it can be used if no other thread was at work in it then; otherwise it is Busy for ever.
template <typename Owned>
class Shared {
 public:
  explicit Shared(std::unique_ptr<Owned> owned) : owned_(std::move(owned)) {}
  ~Shared() {
    if (turns_.is_left_behind()) static_cast<void>(owned_.release());  // not whole: it cannot be destroyed
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  /// Calls a function that looks at it, alone and without the interpreter lock.
  /// @throws Busy
  template <typename Function>
  auto locked(Function&& function) {
    const WithoutInterpreter released;
    const Turn turn(turns_);  // taken after the release, given back before the interpreter lock
    return function(*owned_);
  }

  /// The same for a function that moves it, or works in its memory.
  /// @throws Busy also if it is at work already, further up in this thread.
  template <typename Function>
  auto alone(Function&& function) {
    return locked([&](Owned& found) {
      if (working_) throw Busy("the simulator is in the middle of a step; move it when that has been taken");
      const Working working(working_);
      return function(found);
    });
  }

  /// For one who works long: gives other threads a chance in between.
  void let_others_look() {
    const WithoutInterpreter released;
    turns_.let_others_look();
  }

 protected:
  Owned& owned() { return *owned_; }

 private:
  struct Turn {
    explicit Turn(Turns& turns) : turns_(turns) {
      while (!turns_.take(kBetweenSignals)) {
        with_interpreter([] {
          if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        });
        if (interpreter_leaves()) throw Busy("the simulator is in the middle of a step of a thread that has ended");
      }
    }
    ~Turn() { turns_.give_back(); }
    Turns& turns_;
  };

  struct Working {
    explicit Working(bool& flag) : flag_(flag) { flag_ = true; }
    ~Working() { flag_ = false; }
    bool& flag_;
  };

  static constexpr std::chrono::milliseconds kBetweenSignals{100};
  std::unique_ptr<Owned> owned_;
  Turns turns_;
  bool working_ = false;
};

}  // namespace exposim
