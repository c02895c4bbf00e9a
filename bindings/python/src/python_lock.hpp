// Python's lock, taken and given up by ranks that are threads.
//
// A thread that asks for the lock wakes every few milliseconds until it has it. Thousands of such
// threads keep all cores busy. Hence in a run of many threads a few ask at a time, and the others
// sleep until it is their turn.
#pragma once

#include <Python.h>

#include <atomic>

namespace longshore::python {

/// A turn to ask for the lock. Taken without the lock only: whoever has the lock then never waits
/// for a turn.
class turn_to_ask {
 public:
  static constexpr int most_askers = 8;

  /// While one lives that stands for more threads than may ask at a time, threads take turns.
  class crowd {
   public:
    explicit crowd(int threads) noexcept : size_(threads > most_askers ? threads : 0) {
      crowded_.fetch_add(size_, std::memory_order_relaxed);
    }
    ~crowd() { crowded_.fetch_sub(size_, std::memory_order_relaxed); }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

   private:
    int size_;
  };

  turn_to_ask() noexcept : taken_(crowded_.load(std::memory_order_relaxed) > 0) {
    if (taken_) take();
  }
  ~turn_to_ask() {
    if (taken_) give_back();
  }
  turn_to_ask(const turn_to_ask&) = delete;
  turn_to_ask& operator=(const turn_to_ask&) = delete;

  /// Once, before the first turn: in a process that is forked all turns are free.
  static void prepare();

 private:
  static void take() noexcept;
  static void give_back() noexcept;
  inline static std::atomic<int> crowded_{0};
  bool taken_;
};

/// Has the lock while it lives; also where the thread has it already.
class with_python {
 public:
  with_python() noexcept : before_(PyGILState_Check() != 0 ? PyGILState_Ensure() : ask()) {}
  ~with_python() { PyGILState_Release(before_); }
  with_python(const with_python&) = delete;
  with_python& operator=(const with_python&) = delete;

 private:
  static PyGILState_STATE ask() noexcept {
    const turn_to_ask turn;
    return PyGILState_Ensure();
  }
  PyGILState_STATE before_;
};

/// Gives the lock up while it lives. REQUIRES: the thread has it.
class without_python {
 public:
  without_python() noexcept : state_(PyEval_SaveThread()) {}
  ~without_python() {
    const turn_to_ask turn;
    PyEval_RestoreThread(state_);
  }
  without_python(const without_python&) = delete;
  without_python& operator=(const without_python&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace longshore::python
