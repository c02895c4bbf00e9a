// Page faults and context switches of threads and processes, which the kernel always counts
// (getrusage).
#pragma once

#include <cstdint>

namespace longshore {

/// A minor page fault finds or creates the page in memory; a major fault reads the page from a
/// device.
struct fault_counts {
  std::uint64_t minor = 0, major = 0;
  friend constexpr fault_counts operator-(const fault_counts& a, const fault_counts& b) noexcept {
    return {a.minor - b.minor, a.major - b.major};
  }
};

/// Counts since the start of a thread or a process. A context switch is voluntary if the thread
/// waited in the kernel (slept, blocked). A switch is involuntary if the thread could have
/// continued (end of the time slice, yield).
struct resource_usage {
  fault_counts faults;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;

  resource_usage& operator+=(const resource_usage& other) noexcept {
    faults.minor += other.faults.minor;
    faults.major += other.faults.major;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    return *this;
  }
  friend constexpr resource_usage operator-(const resource_usage& a,
                                            const resource_usage& b) noexcept {
    return {a.faults - b.faults, a.voluntary_switches - b.voluntary_switches,
            a.involuntary_switches - b.involuntary_switches};
  }
};

/// Usage of the calling thread. One system call, about 0.3 us.
[[nodiscard]] resource_usage thread_usage() noexcept;
/// Usage of all threads of this process, including ended ones. One system call, about 0.3 us.
[[nodiscard]] resource_usage process_usage() noexcept;

}  // namespace longshore
