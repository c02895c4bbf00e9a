// What the kernel counts for threads and processes, always and without being asked: page faults and
// context switches.
#pragma once

#include <longshore/machine/page_facts.hpp>

#include <cstdint>

namespace longshore {

/// Since the start of a thread or a process. A switch is voluntary when the thread waited in the
/// kernel (slept, blocked), and involuntary when it could have gone on: its time slice ended, or it
/// yielded the CPU to another.
struct kernel_counts {
  fault_counts faults;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;

  kernel_counts& operator+=(const kernel_counts& other) noexcept {
    faults.minor += other.faults.minor;
    faults.major += other.faults.major;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    return *this;
  }
  friend constexpr kernel_counts operator-(const kernel_counts& a,
                                           const kernel_counts& b) noexcept {
    return {a.faults - b.faults, a.voluntary_switches - b.voluntary_switches,
            a.involuntary_switches - b.involuntary_switches};
  }
};

/// Of the calling thread; and of all threads of this process, also ended ones. One system call
/// each, some 0.3 us.
[[nodiscard]] kernel_counts thread_counts() noexcept;
[[nodiscard]] kernel_counts process_counts() noexcept;

}  // namespace longshore
