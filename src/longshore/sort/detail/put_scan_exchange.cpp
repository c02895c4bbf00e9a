// The exchanges put-scan and direct: each receiver computes the offsets of all incoming blocks by a
// prefix sum over their sizes, and sends each sender the offset of its block. There are no atomics,
// and offsets depend on the counts only. With direct, the caller stores the blocks for ranks of its
// node itself, at direct_destinations(). All other blocks are put.
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

namespace longshore::detail {
namespace {

class put_scan_exchange final : public block_exchange {
 public:
  put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                    exchange_strategy strategy)
      : block_exchange(team, item_bytes),
        targets_(std::move(targets)),
        is_direct_(strategy == exchange_strategy::direct),
        offsets_(static_cast<std::size_t>(team.size())) {}

 private:
  std::byte* grow_incoming(std::size_t, std::size_t max_bytes) override {
    return buffer_.grow(team_, max_bytes);
  }
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;

  std::vector<int> targets_;
  bool is_direct_;
  growable_segment buffer_;
  std::vector<std::size_t> offsets_;  // where this rank's block lies on each target, in bytes
};

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
  if (!is_direct_) copy_own_block(outgoing, {});
  buffer_.memory().quiet();
}

}  // namespace

made_exchange make_put_scan_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                                     exchange_strategy strategy) {
  return std::make_unique<put_scan_exchange>(team, item_bytes, std::move(targets), strategy);
}

}  // namespace longshore::detail
