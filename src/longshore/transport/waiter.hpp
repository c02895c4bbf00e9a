// One wait: spins, then yields the core, then sleeps, and gives up at the deadline with a message
// that says who waited for whom.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore {

/// Made where a wait begins; pause() is called each time the awaited thing is not there yet:
///
///     for (waiter wait(team, "a message on a channel", peer); !arrived(); wait.pause()) {}
class waiter {
 public:
  /// `operation` is shown in the message of a timeout and must outlive the waiter (a literal). peer
  /// -1: no single one.
  waiter(team& team, const char* operation, int peer = -1) noexcept
      : team_(team),
        operation_(operation),
        peer_(peer),
        spins_left_(team.waiting().spin ? most_spins : 0) {}
  ~waiter() {
    if (began_ >= 0) tell();
  }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  void pause() {
    if (spins_left_ > 0) {
      if (--spins_left_ < spins_before_clock) look_at_clock();
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("isb" ::: "memory");
#endif
      return;
    }
    give_way();
  }

 private:
  // some 50 microseconds: longer than a message, shorter than a time slice
  static constexpr int most_spins = 2000;
  // Waits of less than these spins, some two microseconds, are over before it would pay to look at
  // the clock: they are not counted.
  static constexpr int spins_before_clock = most_spins - 80;
  void look_at_clock() noexcept;
  // the team, how long this wait was: until the last pause, since what follows may be work
  void tell() noexcept;
  void give_way();
  [[noreturn]] void give_up(double waited_seconds) const;

  team& team_;
  const char* operation_;
  int peer_;
  int spins_left_;
  unsigned yields_ = 0;
  double began_ = -1, last_ = -1;
};

}  // namespace longshore
