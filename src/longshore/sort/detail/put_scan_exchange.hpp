// The exchanges put-scan and direct: each receiver computes the offsets of all incoming blocks by a
// prefix sum over their sizes, and sends each sender the offset of its block. There are no atomics,
// and offsets depend on the counts only.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

namespace longshore::detail {

class put_scan_exchange final : public block_exchange {
 public:
  /// How blocks reach ranks of the same node: by puts (put-scan), or the caller stores them at
  /// direct_destinations() (direct).
  enum class node_blocks { put, stored_by_caller };

  put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                    node_blocks blocks);

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t max_bytes) override;
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;

  std::vector<int> targets_;
  bool is_direct_;
  growable_segment buffer_;
  std::vector<std::size_t> offsets_;  // where this rank's block lies on each target, in bytes
};

}  // namespace longshore::detail
