// A deadline for blocking library calls. A call that never returns cannot throw, so a watchdog
// thread ends the process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace longshore {

/// Watches the blocking calls of one rank. The first section starts the thread.
class watchdog {
 public:
  /// If timeout_seconds is 0, there is no deadline and no thread.
  watchdog(int rank, double timeout_seconds) : rank_(rank), timeout_seconds_(timeout_seconds) {}
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

  /// The deadline runs during the lifetime of a section. A section costs a few stores. At most one
  /// section may exist at a time.
  class section {
   public:
    section(watchdog& owner, const char* operation) : owner_(owner) { owner_.enter(operation); }
    ~section() { owner_.leave(); }
    section(const section&) = delete;
    section& operator=(const section&) = delete;

   private:
    watchdog& owner_;
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

/// Returns the deadline for starting or ending a library; `timeout_seconds` is the deadline of
/// other waits. At least ten seconds, because a start takes longer than a message. 0 (no deadline)
/// stays 0.
[[nodiscard]] double start_deadline_seconds(double timeout_seconds) noexcept;

/// Watches a call that starts or ends a library, when there is no team. The deadline is
/// start_deadline_seconds(timeout_seconds), and runs during the lifetime of the object.
class watched_call {
 public:
  /// `call` must outlive the object (a literal).
  watched_call(double timeout_seconds, const char* call);

 private:
  watchdog watchdog_;
  watchdog::section section_;
};

}  // namespace longshore
