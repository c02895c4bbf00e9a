// Counters of the processor, as the kernel gives them (perf_event_open): cycles, instructions,
// cache misses. Where it gives none, why.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// What to count, in the words of perf_event_open(2).
struct counted_event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

/// cycles, instructions, cache_misses (as the processor defines them), llc_misses (loads that miss
/// the last-level cache).
[[nodiscard]] std::span<const counted_event> hardware_events() noexcept;

/// One event so far, as it was read.
struct event_count {
  std::uint64_t value = 0;
  std::uint64_t enabled_nanoseconds = 0,
                /// running for less: it shared its register with other events
      running_nanoseconds = 0;
};

/// What was counted between two readings. Where the event had its register for part of the time
/// only, the value is scaled up to all of it; nothing when it never had.
[[nodiscard]] std::optional<double> counted_between(const event_count& before,
                                                    const event_count& after) noexcept;
/// The share of the time in which it was really counted, 0 to 1; 1 where no time passed.
[[nodiscard]] double share_counted(const event_count& before, const event_count& after) noexcept;

/// Counts what the calling thread does in user mode, and the threads that it and they start from
/// now on (its tasks), for as long as the object lives. An event that the kernel refuses has a
/// reason and no value: it is never 0.
class event_counters {
 public:
  explicit event_counters(std::span<const counted_event> events = hardware_events());
  ~event_counters();
  event_counters(event_counters&& other) noexcept;
  event_counters& operator=(event_counters&& other) = delete;
  event_counters(const event_counters&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }
  [[nodiscard]] const char* name(std::size_t event) const noexcept { return opened_[event].name; }
  /// Why this event is not counted; "" when it is.
  [[nodiscard]] const std::string& why_not(std::size_t event) const noexcept {
    return opened_[event].why_not;
  }

  /// All events so far, in their order; nothing for those that are not counted. A system call for
  /// each, some 0.5 us, more where threads that it counts are running at the time.
  [[nodiscard]] std::vector<std::optional<event_count>> read() const;

 private:
  struct opened {
    const char* name;
    int file;  // -1: refused
    std::string why_not;
  };
  std::vector<opened> opened_;
};

namespace detail {

/// What a refusal of perf_event_open means, and what could be done; `paranoid`:
/// /proc/sys/kernel/perf_event_paranoid.
[[nodiscard]] std::string why_refused(int error_number, std::optional<int> paranoid);

}  // namespace detail
}  // namespace longshore
