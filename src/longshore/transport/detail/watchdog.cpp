// A thread that looks every half second whether one blocking call has lasted longer than the
// deadline, and then ends the process.
#include <longshore/core/clock.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/core/launcher.hpp>
#include <longshore/transport/detail/watchdog.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace longshore {
namespace {

int rank_from_launcher() {
  const auto processes = launched();
  return processes ? processes->rank : 0;
}

}  // namespace

watchdog::~watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void watchdog::enter(const char* operation) {
  if (timeout_seconds_ <= 0) return;
  if (!thread_.joinable()) thread_ = std::thread([this] { watch(); });
  sections_.store(sections_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  operation_.store(operation, std::memory_order_relaxed);
}

void watchdog::watch() {
  unsigned long watched_section = 0;
  double began = monotonic_seconds();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stop_; })) {
    const char* operation = operation_.load(std::memory_order_relaxed);
    const unsigned long current_section = sections_.load(std::memory_order_relaxed);
    const double now = monotonic_seconds();
    if (operation == nullptr || current_section != watched_section) {  // no call, or a new call
      watched_section = current_section;
      began = now;
    } else if (now - began > timeout_seconds_) {
      fmt::print(stderr,
                 "longshore: rank {}: {} did not return within {} s: a peer is stuck or gone "
                 "(LONGSHORE_TIMEOUT)\n",
                 rank_, operation, timeout_seconds_);
      std::_Exit(runtime_failure_status);
    }
  }
}

double start_deadline_seconds(double timeout_seconds) noexcept {
  constexpr double min_seconds = 10;
  return timeout_seconds > 0 ? std::max(timeout_seconds, min_seconds) : 0;
}

watched_call::watched_call(double timeout_seconds, const char* call)
    : watchdog_(rank_from_launcher(), start_deadline_seconds(timeout_seconds)),
      section_(watchdog_, call) {}

}  // namespace longshore
