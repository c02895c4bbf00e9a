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
  /// Adjacent signals. The destructor returns them to the pool. They may outlive the pool.
  class lines {
   public:
    lines() = default;
    lines(std::shared_ptr<block> from, std::size_t first, std::size_t count)
        : block_(std::move(from)), first_(first), count_(count) {}
    lines(lines&& other) noexcept { swap(other); }
    lines& operator=(lines&& other) noexcept {
      swap(other);
      return *this;
    }
    ~lines();
    [[nodiscard]] direct_signals* data() const noexcept;
    /// Never returns the signals to the pool, because a peer may still write to them.
    void abandon() noexcept { block_.reset(); }

   private:
    void swap(lines& other) noexcept {
      std::swap(block_, other.block_);
      std::swap(first_, other.first_);
      std::swap(count_, other.count_);
    }
    std::shared_ptr<block> block_;
    std::size_t first_ = 0, count_ = 0;
  };

  /// Returns `count` signals with counters of 0. Memory: 128 bytes per signal. Blocks have at least
  /// 16 KiB. All blocks together grow to about twice the signals that were in use at a time.
  [[nodiscard]] lines take(const team& ranks, std::size_t count);

 private:
  std::vector<std::shared_ptr<block>> blocks_;
  std::size_t total_lines_ = 0;
};

}  // namespace longshore::detail
