// Event counters of the processor (cycles, instructions, cache misses) through perf_event_open. A
// counter that the kernel refuses has a reason instead of a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore {

/// An event to count, with the type and config of perf_event_open(2).
struct counted_event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

/// The events cycles, instructions, cache_misses (defined by the processor) and llc_misses (loads
/// that miss the last-level cache).
[[nodiscard]] std::span<const counted_event> hardware_events() noexcept;

struct event_reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_nanoseconds = 0;
  /// shorter than enabled_nanoseconds if the event shared its register with other events
  std::uint64_t running_nanoseconds = 0;
};

/// Number of events between two readings. If the event had a register for part of the time, the
/// number is scaled up to the whole time. Nothing if the event never had a register.
[[nodiscard]] std::optional<double> count_between(const event_reading& before,
                                                  const event_reading& after) noexcept;
/// The fraction of the time in which the event was counted, 0 to 1; 1 if no time passed.
[[nodiscard]] double counted_share(const event_reading& before,
                                   const event_reading& after) noexcept;

/// Counts events in user mode while the object lives: on the constructing thread, on the threads
/// that this thread starts later, such as its tasks, and on threads that those start. An event that
/// the kernel refuses has a reason and no value, never the value 0.
class event_counters {
 public:
  explicit event_counters(std::span<const counted_event> events = hardware_events());
  ~event_counters();
  event_counters(event_counters&& other) noexcept;
  event_counters& operator=(event_counters&& other) = delete;
  event_counters(const event_counters&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }
  [[nodiscard]] const char* name(std::size_t event) const noexcept { return opened_[event].name; }
  /// Why an event is not counted; "" if the event is counted.
  [[nodiscard]] const std::string& why_not(std::size_t event) const noexcept {
    return opened_[event].why_not;
  }

  /// Reads all counters, in the order of the events. An event that is not counted has no reading.
  /// Costs one system call per event: about 0.5 us, or more while other counted threads are
  /// running.
  [[nodiscard]] std::vector<std::optional<event_reading>> read() const;

 private:
  struct opened_event {
    const char* name;
    int file;  // negative if the kernel refused the event
    std::string why_not;
  };
  std::vector<opened_event> opened_;
};

namespace detail {

/// Explains an error of perf_event_open, and what to do. `paranoid` is the value of
/// /proc/sys/kernel/perf_event_paranoid.
[[nodiscard]] std::string why_refused(int error_number, std::optional<int> paranoid);

}  // namespace detail
}  // namespace longshore
