#include <longshore/core/delayed_notice.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace longshore {

delayed_notice::delayed_notice(double seconds, std::function<std::string()> text)
    : thread_([this, seconds, text = std::move(text)] {
        {
          std::unique_lock lock(mutex_);
          if (ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                              [this] { return is_over_; }))
            return;
        }
        if (const std::string line = text(); !line.empty()) {
          fmt::print(stderr, "{}\n", line);
          std::fflush(stderr);
        }
      }) {}

delayed_notice::~delayed_notice() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

}  // namespace longshore
