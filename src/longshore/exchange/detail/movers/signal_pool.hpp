// Keeps the signals of all plans of a rank in few blocks of shareable memory. So a plan makes no
// file, and peers map a block only once.
#pragma once

#include <longshore/transport/detail/direct_signals.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

class signal_pool {
 private:
  struct block {
    shareable_memory memory;
    std::vector<bool> in_use;  // per line
  };

 public:
  class returner {
   public:
    returner() = default;
    returner(std::shared_ptr<block> to, std::size_t count) : to_(std::move(to)), count_(count) {}
    void operator()(const direct_signals* first) const noexcept;

   private:
    std::shared_ptr<block> to_;
    std::size_t count_ = 0;
  };
  /// Adjacent signals, which may outlive the pool. Signals to which a peer may still write are
  /// released, and never return to the pool.
  using lines = std::unique_ptr<direct_signals, returner>;

  /// Returns `count` signals with counters of 0. Memory: 128 bytes per signal. Blocks have at least
  /// 16 KiB. All blocks together grow to about twice the signals that were in use at a time.
  [[nodiscard]] lines take(const team& ranks, std::size_t count);

 private:
  std::vector<std::shared_ptr<block>> blocks_;
  std::size_t total_lines_ = 0;
};

}  // namespace longshore::detail
