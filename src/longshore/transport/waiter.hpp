// Waiting for other ranks: a waiter spins, then yields the core, then sleeps. At the deadline it
// throws an error that names the waiting rank and the awaited peer.
#pragma once

#include <longshore/transport/team.hpp>

namespace longshore {

/// A function that long waits call, so that an interpreter can handle signals during a wait. An attribute
/// of the team (team::attribute). A wait that has stopped spinning calls `call` now and then, in the
/// rank's thread. An exception thrown by `call` ends the wait; the team can then only be destroyed, as
/// after a timeout.
struct wait_callback {
  void (*call)() = nullptr;
};

/// Make a waiter where the wait begins, and call pause() each time the condition does not hold yet:
///
///     for (waiter wait(team, "a message on a channel", peer); !arrived(); wait.pause()) {}
class waiter {
 public:
  /// The message of a timeout shows `operation`, which must outlive the waiter (a literal), and
  /// `peer`. The peer is -1 if the wait is for several ranks.
  waiter(team& team, const char* operation, int peer = -1) noexcept
      : team_(team), operation_(operation), peer_(peer), is_spinning_(team.waiting().spin) {}
  ~waiter() {
    if (began_seconds_ >= 0) add_to_team();
  }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  void pause() {
    if (is_spinning_) {
      if (untimed_spins_left_ > 0)
        --untimed_spins_left_;
      else
        time_spin();
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
  // The first spins do not read the clock, which takes longer than a spin. These spins take one to
  // four microseconds; shorter waits are not counted.
  static constexpr int untimed_spins = 80;
  // Reads the clock, and ends spinning when it has taken long enough.
  void time_spin() noexcept;
  void read_clock() noexcept;
  // Adds the time until the last pause to team::waited_seconds(). The time after it may be work.
  void add_to_team() noexcept;
  void yield();
  void pause_by_event();  // where time is computed
  [[noreturn]] void fail_timeout(double waited_seconds) const;

  team& team_;
  const char* operation_;
  int peer_;
  bool is_spinning_;
  int untimed_spins_left_ = untimed_spins;
  unsigned yields_ = 0;
  double began_seconds_ = -1, last_seconds_ = -1;  // clock readings; negative before the first
};

}  // namespace longshore
