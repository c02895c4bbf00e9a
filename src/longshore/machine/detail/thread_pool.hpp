// The tasking layer "threads": a pool of std::threads. While they wait for the next region, they
// spin briefly, then sleep.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/machine/detail/task_layer.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace longshore::detail {

/// Invariant: outside run() all threads wait for a change of round_. A region costs one change of
/// round_ and one countdown of unfinished_: two cache lines, and no system call while all threads
/// spin.
class thread_pool final : public task_layer {
 public:
  /// Starts options.count - 1 threads. Throws errc::out_of_memory if the system refuses.
  explicit thread_pool(const task_options& options);
  ~thread_pool() override;
  void run(task_call call) override;

 private:
  void work(int task, const std::vector<int>& cpus);
  void stop() noexcept;
  /// Waits until `value` is no longer `old`.
  void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) const noexcept;

  bool spin_;
  std::optional<task_0_binding> own_binding_;
  std::vector<std::thread> threads_;
  task_call call_{};
  bool stopping_ = false;
  // changes when call_ is ready, and when the pool stops
  alignas(interference_bytes) std::atomic<std::uint32_t> round_ = 0;
  // number of threads still in the region
  alignas(interference_bytes) std::atomic<std::uint32_t> unfinished_ = 0;
};

}  // namespace longshore::detail
