// A message on stderr that appears only if an operation takes longer than a given time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace longshore {

/// Prints one line to stderr `seconds` after construction, unless the object is destroyed earlier.
class delayed_notice {
 public:
  /// Starts a thread, which calls `make_line` when the time has come. An empty line is not printed.
  delayed_notice(double seconds, std::function<std::string()> make_line);
  /// If printing has begun, waits until the line is printed.
  ~delayed_notice();
  delayed_notice(const delayed_notice&) = delete;
  delayed_notice& operator=(const delayed_notice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable cancelled_;
  bool is_cancelled_ = false;
  std::thread thread_;  // last, because the thread uses the other members
};

}  // namespace longshore
