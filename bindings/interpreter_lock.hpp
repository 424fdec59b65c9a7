#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <utility>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace exposim {

/// Whether the interpreter is being taken down: only one thread still runs Python then.
inline bool interpreter_leaves() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// Calls a function that may wait for the interpreter lock. Where it never comes, since the interpreter is being taken
/// down by another thread, this one sleeps until the process ends, as CPython from 3.14 on has it.
///
/// Before, CPython ends such a thread by unwinding its stack: through destructors, which may not throw, and through
/// references to Python objects, which may no longer be given back. What was caught may not be left either.
template <typename Function>
__attribute__((no_sanitize("undefined")))  // GCC gives the handler a reference to nothing
auto sleeping_if_it_never_comes(Function&& function) {
#ifdef __GLIBCXX__
  try {
    return std::forward<Function>(function)();
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
#else
  return std::forward<Function>(function)();
#endif
}

/// Releases the interpreter lock for as long as it lives.
class WithoutInterpreter {
 public:
  WithoutInterpreter() : outer_(innermost_), thread_(PyEval_SaveThread()) { innermost_ = this; }
  ~WithoutInterpreter() {
    sleeping_if_it_never_comes([this] { PyEval_RestoreThread(thread_); });
    innermost_ = outer_;
  }
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

 private:
  template <typename Function>
  friend auto with_interpreter(Function&& function);

  static inline thread_local WithoutInterpreter* innermost_ = nullptr;
  WithoutInterpreter* outer_;
  PyThreadState* thread_;
};

/// Calls a function with the interpreter lock held, from wherever a thread is.
///
/// A thread that has released it takes up its own state again: to ask an interpreter that has gone for one, as
/// PyGILState_Ensure does, is not safe.
template <typename Function>
auto with_interpreter(Function&& function) {
  WithoutInterpreter*& innermost = WithoutInterpreter::innermost_;
  struct Held {
    explicit Held(WithoutInterpreter*& innermost) : innermost_(innermost), released_(innermost) {
      if (released_) {
        PyEval_RestoreThread(released_->thread_);
      } else {
        token_ = PyGILState_Ensure();
      }
      innermost_ = nullptr;
    }
    ~Held() {
      if (released_) {
        released_->thread_ = PyEval_SaveThread();
      } else {
        PyGILState_Release(token_);
      }
      innermost_ = released_;
    }
    WithoutInterpreter*& innermost_;
    WithoutInterpreter* released_;
    PyGILState_STATE token_{};
  };
  return sleeping_if_it_never_comes([&] {
    const Held held(innermost);
    return sleeping_if_it_never_comes(std::forward<Function>(function));
  });
}

}  // namespace exposim
