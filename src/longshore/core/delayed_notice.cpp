// A thread sleeps on a condition variable until the time of the notice or its cancellation, and
// prints the line only in the first case. A run on threads reports a slow start in this way.
#include <longshore/core/delayed_notice.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace longshore {

delayed_notice::delayed_notice(double seconds, std::function<std::string()> make_line)
    : thread_([this, seconds, make_line = std::move(make_line)] {
        {
          std::unique_lock lock(mutex_);
          if (cancelled_.wait_for(lock, std::chrono::duration<double>(seconds),
                                  [this] { return is_cancelled_; }))
            return;
        }
        if (const std::string line = make_line(); !line.empty()) {
          fmt::print(stderr, "{}\n", line);
          std::fflush(stderr);
        }
      }) {}

delayed_notice::~delayed_notice() {
  {
    const std::scoped_lock lock(mutex_);
    is_cancelled_ = true;
  }
  cancelled_.notify_one();
  thread_.join();
}

}  // namespace longshore
