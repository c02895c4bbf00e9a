// A line for people about something that takes longer than they expect. Nothing is said about what
// is over soon.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace longshore {

/// Prints a line to stderr, once, `seconds` after it was made, unless it has been destroyed by
/// then. Costs a thread.
class delayed_notice {
 public:
  /// `text` is called by that thread. It may give an empty text: then nothing is printed.
  delayed_notice(double seconds, std::function<std::string()> text);
  /// Returns at once, or when the text has been printed.
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
