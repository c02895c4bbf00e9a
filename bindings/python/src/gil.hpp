// Acquiring and releasing the GIL (Python's global interpreter lock) in ranks that are threads.
//
// A thread that waits for the GIL wakes every few milliseconds. Thousands of such threads keep all
// cores busy. In a run of many threads, only a few therefore wait for the GIL at a time, and the
// others sleep until it is their turn.
#pragma once

#include <Python.h>

#include <atomic>

namespace longshore::python {

/// A turn to wait for the GIL. A thread takes it without the GIL only, so that a thread with the
/// GIL never waits for a turn.
class gil_turn {
 public:
  static constexpr int most_waiting = 8;

  /// Threads take turns while this object exists, if `threads` is more than may wait at a time.
  class many_threads {
   public:
    explicit many_threads(int threads) noexcept : size_(threads > most_waiting ? threads : 0) {
      waiting_threads_.fetch_add(size_, std::memory_order_relaxed);
    }
    ~many_threads() { waiting_threads_.fetch_sub(size_, std::memory_order_relaxed); }
    many_threads(const many_threads&) = delete;
    many_threads& operator=(const many_threads&) = delete;

   private:
    int size_;
  };

  gil_turn() noexcept : taken_(waiting_threads_.load(std::memory_order_relaxed) > 0) {
    if (taken_) take();
  }
  ~gil_turn() {
    if (taken_) give_back();
  }
  gil_turn(const gil_turn&) = delete;
  gil_turn& operator=(const gil_turn&) = delete;

  /// Makes all turns free, also in forked processes. Call once, before the first turn.
  static void prepare();

 private:
  static void take() noexcept;
  static void give_back() noexcept;
  inline static std::atomic<int> waiting_threads_{0};
  bool taken_;
};

/// Holds the GIL during its lifetime. The thread may hold the GIL already.
class acquire_gil {
 public:
  acquire_gil() noexcept
      : before_(PyGILState_Check() != 0 ? PyGILState_Ensure() : ensure_in_turn()) {}
  ~acquire_gil() { PyGILState_Release(before_); }
  acquire_gil(const acquire_gil&) = delete;
  acquire_gil& operator=(const acquire_gil&) = delete;

 private:
  static PyGILState_STATE ensure_in_turn() noexcept {
    const gil_turn turn;
    return PyGILState_Ensure();
  }
  PyGILState_STATE before_;
};

/// Releases the GIL during its lifetime. REQUIRES: the thread holds it.
class release_gil {
 public:
  release_gil() noexcept : state_(PyEval_SaveThread()) {}
  ~release_gil() {
    const gil_turn turn;
    PyEval_RestoreThread(state_);
  }
  release_gil(const release_gil&) = delete;
  release_gil& operator=(const release_gil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace longshore::python
