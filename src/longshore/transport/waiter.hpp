// Waiting for other ranks: a waiter spins, then yields the core, then sleeps. At the deadline it
// throws an error that names the waiting rank and the awaited peer.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore {

/// Make a waiter where the wait begins, and call pause() each time the condition does not hold yet:
///
///     for (waiter wait(team, "a message on a channel", peer); !arrived(); wait.pause()) {}
class waiter {
 public:
  /// The message of a timeout shows `operation`, which must outlive the waiter (a literal), and
  /// `peer`. The peer is -1 if the wait is for several ranks.
  waiter(team& team, const char* operation, int peer = -1) noexcept
      : team_(team),
        operation_(operation),
        peer_(peer),
        spins_left_(team.waiting().spin ? max_spins : 0) {}
  ~waiter() {
    if (began_seconds_ >= 0) add_to_team();
  }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  void pause() {
    if (spins_left_ > 0) {
      if (--spins_left_ < spins_before_clock) read_clock();
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("isb" ::: "memory");
#endif
      return;
    }
    yield();
  }

 private:
  // About 50 microseconds: longer than a message takes, shorter than a time slice.
  static constexpr int max_spins = 2000;
  // The first 80 spins, about two microseconds, do not read the clock, so shorter waits are not
  // counted.
  static constexpr int spins_before_clock = max_spins - 80;
  void read_clock() noexcept;
  // Adds the time until the last pause to team::waited_seconds(). The time after it may be work.
  void add_to_team() noexcept;
  void yield();
  void pause_simulated();
  [[noreturn]] void fail_timeout(double waited_seconds) const;

  team& team_;
  const char* operation_;
  int peer_;
  int spins_left_;
  unsigned yields_ = 0;
  double began_seconds_ = -1, last_seconds_ = -1;  // clock readings; negative before the first
};

}  // namespace longshore
