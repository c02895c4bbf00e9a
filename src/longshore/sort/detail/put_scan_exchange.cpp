// The exchanges put-scan and direct: tells each sender the offset of its block, and puts the blocks
// that the caller has not stored itself.
#include <longshore/sort/detail/put_scan_exchange.hpp>

namespace longshore::detail {

put_scan_exchange::put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                                     node_blocks blocks)
    : block_exchange(team, item_bytes),
      targets_(std::move(targets)),
      is_direct_(blocks == node_blocks::stored_by_caller),
      offsets_(static_cast<std::size_t>(team.size())) {}

std::byte* put_scan_exchange::grow_incoming(std::size_t, std::size_t max_bytes) {
  return buffer_.grow(team_, max_bytes);
}

void put_scan_exchange::prepare_transfer(const block_counts&) {
  team_.alltoall(std::as_bytes(std::span(incoming_starts_.data(), offsets_.size())),
                 std::as_writable_bytes(std::span(offsets_)));
  count_to_all(sizeof(std::size_t));
  if (!is_direct_) return;
  direct_destinations_.resize(offsets_.size());
  incoming_of_ranks_.resize(offsets_.size());
  for (int target = 0; target < team_.size(); ++target) {
    std::byte* const memory = buffer_.memory().direct(target);
    direct_destinations_[target] = memory == nullptr ? nullptr : memory + offsets_[target];
    incoming_of_ranks_[target] = memory;
  }
  if (team_.nodes().node_count() > 1) incoming_of_ranks_.clear();
}

void put_scan_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  for (const int target : targets_) {
    if (bytes_to(target) == 0 || (is_direct_ && direct_destinations_[target] != nullptr)) continue;
    buffer_.memory().put_start(target, offsets_[target], outgoing + outgoing_starts_[target],
                               bytes_to(target));
    count_message(target, bytes_to(target));
  }
  if (!is_direct_) copy_own_block(outgoing, nullptr);
  buffer_.memory().quiet();
}

}  // namespace longshore::detail
