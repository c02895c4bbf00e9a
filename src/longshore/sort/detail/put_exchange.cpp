// The exchanges put, put-scan and direct: a rank puts its block into the memory of each target.
// With put, the rank reserves this memory by a fetch-and-add on a counter of the target, so blocks
// lie in the order in which ranks reserve. With put-scan and direct, each receiver computes the
// offsets of all incoming blocks by a prefix sum over their sizes, and sends each sender the offset
// of its block. So there are no atomics, and offsets depend on the counts only. With direct, the
// caller stores the blocks for ranks of its node itself, at direct_destinations().
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

#include <cstring>

namespace longshore::detail {
namespace {

class put_exchange final : public block_exchange {
 public:
  put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
               exchange_strategy strategy)
      : block_exchange(team, item_bytes),
        targets_(std::move(targets)),
        is_direct_(strategy == exchange_strategy::direct),
        reserved_(strategy == exchange_strategy::put ? team.allocate(2 * sizeof(std::int64_t))
                                                     : nullptr),
        amounts_(static_cast<std::size_t>(team.size())),
        offsets_(amounts_.size()) {}

 private:
  std::byte* grow_incoming(std::size_t, std::size_t max_bytes) override {
    return buffer_.grow(team_, max_bytes);
  }
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;
  void take_next_counter();
  void reserve_at_all_targets();
  void receive_offsets();
  [[nodiscard]] std::size_t counter() const noexcept {
    return static_cast<std::size_t>(runs_ % 2) * sizeof(std::int64_t);
  }
  // Whether the caller has stored the block for this rank.
  [[nodiscard]] bool is_stored(int target) const noexcept {
    return is_direct_ && direct_destinations_[target] != nullptr;
  }

  std::vector<int> targets_;
  bool is_direct_;
  growable_segment buffer_;
  // Only with put: two counters of the bytes that are reserved on this rank. Runs use the counters
  // in turn: the counter of the last run is reset while the current run uses the other counter.
  std::unique_ptr<segment> reserved_;
  // Of the current run, indexed by target: the bytes of a block (only with put), and where the
  // block begins.
  std::vector<std::int64_t> amounts_, offsets_;
  unsigned runs_ = 0;
  std::size_t reserved_in_last_run_ = 0;
};

void put_exchange::prepare_transfer(const block_counts&) {
  if (reserved_)
    take_next_counter();
  else
    receive_offsets();
}

// Resets the counter of the last run. No rank uses that counter now: all ranks have ended the last
// run, and a barrier lies between this call and the next run that uses the counter.
void put_exchange::take_next_counter() {
  if (reserved_in_last_run_ > 0)
    reserved_->fetch_add(team_.rank(), counter(),
                         -static_cast<std::int64_t>(reserved_in_last_run_));
  ++runs_;
  reserved_in_last_run_ = 0;
}

// All reservations start before the first block, because a reservation behind a block would wait in
// the network until the block has left. So between hosts all ranks wait for all reservations.
void put_exchange::reserve_at_all_targets() {
  reserved_in_last_run_ = incoming_starts_.back();
  const auto reserve_at = [this](int target) {
    amounts_[target] = static_cast<std::int64_t>(bytes_to(target));
    if (amounts_[target] > 0)
      reserved_->fetch_add_start(target, counter(), &amounts_[target], &offsets_[target]);
  };
  reserve_at(team_.rank());
  for (const int target : targets_) {
    reserve_at(target);
    if (amounts_[target] > 0) count_message(target, sizeof(std::int64_t));
  }
  reserved_->quiet();
  if (team_.nodes().most_ranks_off_host() > 0) team_.barrier();
}

void put_exchange::receive_offsets() {
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

void put_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  const int me = team_.rank();
  if (reserved_) reserve_at_all_targets();
  for (const int target : targets_) {
    if (bytes_to(target) == 0 || is_stored(target)) continue;
    buffer_.memory().put_start(target, static_cast<std::size_t>(offsets_[target]),
                               outgoing + outgoing_starts_[target], bytes_to(target));
    count_message(target, bytes_to(target));
  }
  if (bytes_to(me) > 0 && !is_stored(me)) {
    std::memcpy(incoming_ + offsets_[me], outgoing + outgoing_starts_[me], bytes_to(me));
    team_.charge_copy(me, bytes_to(me));
  }
  buffer_.memory().quiet();
}

}  // namespace

made_exchange make_put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                                exchange_strategy strategy) {
  return std::make_unique<put_exchange>(team, item_bytes, std::move(targets), strategy);
}

}  // namespace longshore::detail
