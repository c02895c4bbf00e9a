// The exchange alltoallv: all blocks in one collective call of the transport.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

namespace longshore::detail {

class alltoallv_exchange final : public block_exchange {
 public:
  alltoallv_exchange(team& team, std::size_t item_bytes) : block_exchange(team, item_bytes) {}

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t) override { return buffer_.grow(bytes); }
  void prepare_transfer(const block_counts& counts) override { counts_ = &counts; }
  void transfer(const std::byte* outgoing, const arrival_callback&) override {
    team_.alltoallv(outgoing, counts_->outgoing, incoming_, counts_->incoming, item_bytes_);
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank() && bytes_to(target) > 0) count_message(target, bytes_to(target));
  }

  growable_buffer buffer_;
  const block_counts* counts_ = nullptr;
};

}  // namespace longshore::detail
