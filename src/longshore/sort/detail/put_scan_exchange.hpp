// The exchanges put-scan and direct: each receiver computes the places of all blocks by a prefix
// sum over their sizes and sends each sender its place. No atomics; places depend on the counts
// only.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

namespace longshore::detail {

class put_scan_exchange final : public block_exchange {
 public:
  /// `direct`: the caller stores blocks for ranks of its node itself (direct_destinations()).
  put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets, bool direct);

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t most_bytes) override;
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;

  std::vector<int> targets_;
  bool direct_;
  growable_segment buffer_;
  std::vector<std::size_t> places_;  // of this rank's blocks, by target, in bytes
};

}  // namespace longshore::detail
