// Counts events of the processor by perf_event_open: one file descriptor per event, whose readings
// are scaled if the event shared a register. Explains the errors of the kernel.
#include <longshore/machine/event_counters.hpp>

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace longshore {
namespace {

// perf_event_open(2) encodes a cache event as cache | operation << 8 | result << 16.
constexpr std::uint64_t last_level_load_misses = PERF_COUNT_HW_CACHE_LL |
                                                 PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                                 PERF_COUNT_HW_CACHE_RESULT_MISS << 16;

constexpr std::array<counted_event, 4> default_events{{
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"llc_misses", PERF_TYPE_HW_CACHE, last_level_load_misses},
}};

// Opens each event alone, because new threads cannot inherit groups of events.
int open_event(const counted_event& event) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // users without privileges may count user mode only
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  constexpr int this_thread = 0, any_cpu = -1, no_group = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, this_thread, any_cpu, no_group,
                                  PERF_FLAG_FD_CLOEXEC));
}

std::optional<int> paranoid_level() {
  int level = 0;
  if (std::ifstream in("/proc/sys/kernel/perf_event_paranoid"); in >> level) return level;
  return std::nullopt;
}

}  // namespace

std::span<const counted_event> hardware_events() noexcept { return default_events; }

double counted_share(const event_reading& before, const event_reading& after) noexcept {
  const std::uint64_t enabled = after.enabled_nanoseconds - before.enabled_nanoseconds;
  const std::uint64_t running = after.running_nanoseconds - before.running_nanoseconds;
  return enabled == 0 || running >= enabled
             ? 1
             : static_cast<double>(running) / static_cast<double>(enabled);
}

std::optional<double> count_between(const event_reading& before,
                                    const event_reading& after) noexcept {
  const double share = counted_share(before, after);
  if (share <= 0) return std::nullopt;
  return static_cast<double>(after.value - before.value) / share;
}

event_counters::event_counters(std::span<const counted_event> events) {
  for (const auto& event : events) {
    const int file = open_event(event);
    const int error_number = errno;
    opened_.push_back(
        {event.name, file, file < 0 ? detail::why_refused(error_number, paranoid_level()) : ""});
  }
}

event_counters::~event_counters() {
  for (const auto& event : opened_)
    if (event.file >= 0) close(event.file);
}

event_counters::event_counters(event_counters&& other) noexcept
    : opened_(std::exchange(other.opened_, {})) {}

std::vector<std::optional<event_reading>> event_counters::read() const {
  std::vector<std::optional<event_reading>> counts(opened_.size());
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (opened_[i].file < 0) continue;
    std::array<std::uint64_t, 3> words{};  // in the order of read_format
    if (::read(opened_[i].file, words.data(), sizeof(words)) == static_cast<ssize_t>(sizeof(words)))
      counts[i] = event_reading{words[0], words[1], words[2]};
  }
  return counts;
}

std::string detail::why_refused(int error_number, std::optional<int> paranoid) {
  switch (error_number) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case EINVAL:
      return fmt::format(
          "not supported: this processor, or the virtual machine, does not count it ({})",
          std::strerror(error_number));
    case EACCES:
    case EPERM:
      if (paranoid && *paranoid > 2)
        return fmt::format("refused: kernel.perf_event_paranoid is {}, and must be 2 or less ({})",
                           *paranoid, std::strerror(error_number));
      return fmt::format(
          "refused: a container or security policy does not allow perf_event_open ({})",
          std::strerror(error_number));
    case ENOSYS:
      return "not supported: this kernel has no perf_event_open, or a container hides it (Function "
             "not implemented)";
    case EMFILE:
    case ENFILE:
      return fmt::format("refused: too many open files ({})", std::strerror(error_number));
    default:
      return fmt::format("not supported: perf_event_open failed ({})", std::strerror(error_number));
  }
}

}  // namespace longshore
