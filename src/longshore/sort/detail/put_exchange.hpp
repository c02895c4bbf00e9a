// The exchange put: a rank reserves memory of the target by a fetch-and-add and puts its block into
// that memory. Blocks lie in the order in which ranks reserve.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

namespace longshore::detail {

class put_exchange final : public block_exchange {
 public:
  put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets);

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t max_bytes) override;
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;
  void reserve_at_all_targets();
  [[nodiscard]] std::size_t counter() const noexcept {
    return static_cast<std::size_t>(runs_ % 2) * sizeof(std::int64_t);
  }

  std::vector<int> targets_;
  growable_segment buffer_;
  // Two counters of the bytes that are reserved on this rank. Runs use the counters in turn: the
  // counter of the last run is reset while the current run uses the other counter.
  std::unique_ptr<segment> reserved_;
  // Of the current run, indexed by target: the bytes of a block, and where the block begins.
  std::vector<std::int64_t> amounts_, offsets_;
  unsigned runs_ = 0;
  std::size_t reserved_in_last_run_ = 0;
};

}  // namespace longshore::detail
