// The exchange put: a rank reserves memory of each target by a fetch-and-add on a counter of the
// target, and puts its block there. Blocks lie in the order in which ranks reserve.
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

#include <cstring>

namespace longshore::detail {
namespace {

class put_exchange final : public block_exchange {
 public:
  put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets)
      : block_exchange(team, item_bytes),
        targets_(std::move(targets)),
        reserved_(team.allocate(2 * sizeof(std::int64_t))),
        amounts_(static_cast<std::size_t>(team.size())),
        offsets_(static_cast<std::size_t>(team.size())) {}

 private:
  std::byte* grow_incoming(std::size_t, std::size_t max_bytes) override {
    return buffer_.grow(team_, max_bytes);
  }
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

// Resets the counter of the last run. No rank uses that counter now: all ranks have ended the last
// run, and a barrier lies between this call and the next run that uses the counter.
void put_exchange::prepare_transfer(const block_counts&) {
  if (reserved_in_last_run_ > 0)
    reserved_->fetch_add(team_.rank(), counter(),
                         -static_cast<std::int64_t>(reserved_in_last_run_));
  ++runs_;
  reserved_in_last_run_ = 0;
}

// All reservations start before the first block, because a reservation behind a block would wait in
// the network until the block has left. So between hosts all ranks wait for all reservations.
void put_exchange::reserve_at_all_targets() {
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

void put_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  const int me = team_.rank();
  reserved_in_last_run_ = incoming_starts_.back();
  reserve_at_all_targets();
  for (const int target : targets_) {
    if (bytes_to(target) == 0) continue;
    buffer_.memory().put_start(target, static_cast<std::size_t>(offsets_[target]),
                               outgoing + outgoing_starts_[target], bytes_to(target));
    count_message(target, bytes_to(target));
  }
  if (bytes_to(me) > 0) {
    std::memcpy(incoming_ + offsets_[me], outgoing + outgoing_starts_[me], bytes_to(me));
    team_.charge_copy(team_.rank(), bytes_to(me));
  }
  buffer_.memory().quiet();
}

}  // namespace

made_exchange make_put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets) {
  return std::make_unique<put_exchange>(team, item_bytes, std::move(targets));
}

}  // namespace longshore::detail
