// Event counters of the processor through perf_event_open: cycles, instructions, cache misses. If
// the kernel refuses a counter, the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// An event to count; type and config are those of perf_event_open(2).
struct counted_event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

/// The events cycles, instructions, cache_misses (as the processor defines them) and llc_misses
/// (loads that miss the last-level cache).
[[nodiscard]] std::span<const counted_event> hardware_events() noexcept;

/// One reading of a counter.
struct event_reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_nanoseconds = 0;
  /// shorter than enabled_nanoseconds if the event shared its register with other events
  std::uint64_t running_nanoseconds = 0;
};

/// Events between two readings. If the event had its register for part of the time, the value is
/// scaled up to the whole time; if it never had it, the result is nothing.
[[nodiscard]] std::optional<double> count_between(const event_reading& before,
                                                  const event_reading& after) noexcept;
/// The fraction of the time in which the event was counted, 0 to 1; 1 if no time passed.
[[nodiscard]] double counted_share(const event_reading& before,
                                   const event_reading& after) noexcept;

/// Counts events in user mode while the object lives: of the calling thread, and of threads that it
/// and they start after the construction (its tasks). An event that the kernel refuses has a reason
/// and no value; it is never reported as 0.
class event_counters {
 public:
  explicit event_counters(std::span<const counted_event> events = hardware_events());
  ~event_counters();
  event_counters(event_counters&& other) noexcept;
  event_counters& operator=(event_counters&& other) = delete;
  event_counters(const event_counters&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }
  [[nodiscard]] const char* name(std::size_t event) const noexcept { return opened_[event].name; }
  /// Why this event is not counted; "" if it is.
  [[nodiscard]] const std::string& why_not(std::size_t event) const noexcept {
    return opened_[event].why_not;
  }

  /// Reads all counters, in the order of the events; nothing for an event that is not counted. One
  /// system call per event, about 0.5 us, or more while threads that it counts are running.
  [[nodiscard]] std::vector<std::optional<event_reading>> read() const;

 private:
  struct opened {
    const char* name;
    int file;  // -1: refused
    std::string why_not;
  };
  std::vector<opened> opened_;
};

namespace detail {

/// Explains an error of perf_event_open, and what to do. `paranoid` is the value of
/// /proc/sys/kernel/perf_event_paranoid.
[[nodiscard]] std::string why_refused(int error_number, std::optional<int> paranoid);

}  // namespace detail
}  // namespace longshore
