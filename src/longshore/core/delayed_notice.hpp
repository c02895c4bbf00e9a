// A message on stderr that appears only if an operation takes longer than a given time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace longshore {

/// Prints one line to stderr `seconds` after construction, unless it is destroyed earlier. Uses one
/// thread.
class delayed_notice {
 public:
  /// That thread calls `text`. If the result is empty, nothing is printed.
  delayed_notice(double seconds, std::function<std::string()> text);
  /// Returns at once; if printing has begun, it waits until the line is printed.
  ~delayed_notice();
  delayed_notice(const delayed_notice&) = delete;
  delayed_notice& operator=(const delayed_notice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace longshore
