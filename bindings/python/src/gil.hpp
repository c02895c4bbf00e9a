// Acquiring and releasing the GIL, Python's global interpreter lock, in ranks that are threads.
//
// Only the thread that holds the GIL may run Python code. A thread that waits for the GIL wakes
// every few milliseconds to ask for it, so that thousands of waiting ranks keep all cores busy. In
// large runs, a rank must therefore take a turn before it waits for the GIL. There are few turns.
// Ranks without a turn sleep in a semaphore until a turn is given back.
#pragma once

#include <Python.h>

#include <atomic>

namespace longshore::python {

/// Holds a turn during its lifetime if ranks of a large run exist. If none exist, does nothing. A
/// thread gives its turn back as soon as it has the GIL. REQUIRES: the thread does not hold the
/// GIL. A thread that kept the GIL and waited for a turn would wait forever, because the threads
/// with turns wait for the GIL.
class gil_turn {
 public:
  /// The number of turns: at most this many ranks wait for the GIL at a time.
  static constexpr int turn_count = 8;

  /// Each rank of a run holds one of these objects. If the run has more ranks than there are turns,
  /// all threads of the process take turns while the object exists.
  class rank_of_run {
   public:
    explicit rank_of_run(int ranks) noexcept : is_large_(ranks > turn_count) {
      if (is_large_) ranks_in_large_runs_.fetch_add(1, std::memory_order_relaxed);
    }
    ~rank_of_run() {
      if (is_large_) ranks_in_large_runs_.fetch_sub(1, std::memory_order_relaxed);
    }
    rank_of_run(const rank_of_run&) = delete;
    rank_of_run& operator=(const rank_of_run&) = delete;

   private:
    const bool is_large_;
  };

  gil_turn() noexcept : taken_(ranks_in_large_runs_.load(std::memory_order_relaxed) > 0) {
    if (taken_) take();
  }
  ~gil_turn() {
    if (taken_) give_back();
  }
  gil_turn(const gil_turn&) = delete;
  gil_turn& operator=(const gil_turn&) = delete;

  /// Makes the semaphore of turns, in this process and again in each forked process. In a forked
  /// process the threads that held turns do not exist, and would never give them back. REQUIRES:
  /// called once, before the first turn.
  static void prepare();

 private:
  static void take() noexcept;
  static void give_back() noexcept;
  inline static std::atomic<int> ranks_in_large_runs_{0};
  const bool taken_;  // the run may end while this thread has a turn
};

/// Holds the GIL during its lifetime. The thread may hold the GIL already: then it takes no turn,
/// because it does not wait.
class acquire_gil {
 public:
  acquire_gil() noexcept
      : state_(PyGILState_Check() != 0 ? PyGILState_Ensure() : ensure_in_turn()) {}
  ~acquire_gil() { PyGILState_Release(state_); }
  acquire_gil(const acquire_gil&) = delete;
  acquire_gil& operator=(const acquire_gil&) = delete;

 private:
  static PyGILState_STATE ensure_in_turn() noexcept {
    const gil_turn turn;
    return PyGILState_Ensure();
  }
  PyGILState_STATE state_;
};

/// Releases the GIL during its lifetime. REQUIRES: the thread holds the GIL.
class release_gil {
 public:
  release_gil() noexcept : state_(PyEval_SaveThread()) {}
  ~release_gil() {
    const gil_turn turn;
    PyEval_RestoreThread(state_);  // waits for the GIL
  }
  release_gil(const release_gil&) = delete;
  release_gil& operator=(const release_gil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace longshore::python
