// The deadline of blocking calls of a library: a call that never returns cannot throw, so a thread
// ends the process instead.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace longshore {

/// Watches one rank. The thread is started by the first section, and calls no library.
class watchdog {
 public:
  /// timeout_seconds 0: never starts.
  watchdog(int rank, double timeout_seconds) : rank_(rank), timeout_seconds_(timeout_seconds) {}
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  /// For as long as one lives, the deadline runs. Costs a few stores. Sections do not nest, and are
  /// those of one thread at a time.
  class section {
   public:
    section(watchdog& dog, const char* operation) : dog_(dog) { dog_.enter(operation); }
    ~section() { dog_.leave(); }
    section(const section&) = delete;
    section& operator=(const section&) = delete;

   private:
    watchdog& dog_;
  };

 private:
  void enter(const char* operation);
  void leave() { operation_.store(nullptr, std::memory_order_relaxed); }
  void watch();

  int rank_;
  double timeout_seconds_;
  std::atomic<const char*> operation_{nullptr};
  std::atomic<unsigned long> sections_{0};
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

/// The deadline of a library's start and end, for that of other waits: they last longer than a
/// message, so it is some seconds at least. 0, none, stays 0.
[[nodiscard]] double start_deadline_seconds(double timeout_seconds) noexcept;

/// For as long as one lives, that deadline runs over a call that starts or ends a library: where no
/// team is yet, or no more.
class watched_call {
 public:
  /// `call` must outlive it (a literal).
  watched_call(double timeout_seconds, const char* call);

 private:
  watchdog dog_;
  watchdog::section section_;
};

}  // namespace longshore
