// The tasking layer "threads": a pool of std::threads that run each region together with the
// calling thread. Threads that wait for the next region spin briefly, then sleep.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/machine/detail/task_layer.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace longshore::detail {

/// Invariant: outside run() each thread waits for a change of region_number_, or begins to. A
/// thread reads body_ and stopping_ only after a change. Both are written before region_number_
/// changes with release, so they need not be atomic. A region costs one change of region_number_
/// and one countdown of unfinished_: two cache lines, and no system call while all threads spin.
class thread_pool final : public task_layer {
 public:
  /// Starts options.count - 1 threads. Throws errc::out_of_memory if the system refuses.
  explicit thread_pool(const task_options& options);
  ~thread_pool() override;
  void run(region_body body) override;

 private:
  void work(int task, const std::vector<int>& cpus);
  void stop() noexcept;
  /// Waits until `value` differs from `old`.
  void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) const noexcept;

  bool spin_;  // whether a waiting thread spins before it sleeps
  std::optional<task_0_binding> task_0_binding_;
  std::vector<std::thread> threads_;
  region_body body_{};     // of the current region
  bool stopping_ = false;  // whether the last change of region_number_ ends the threads
  // The number of regions so far. It changes when body_ is ready, and once more when the pool
  // stops.
  alignas(interference_bytes) std::atomic<std::uint32_t> region_number_ = 0;
  // The number of threads that are still in the region, without the calling thread.
  alignas(interference_bytes) std::atomic<std::uint32_t> unfinished_ = 0;
};

}  // namespace longshore::detail
