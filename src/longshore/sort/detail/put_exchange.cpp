// The exchange put: reserves memory at each target by a fetch-and-add on a counter of the target,
// and puts the block there.
#include <longshore/sort/detail/put_exchange.hpp>

#include <cstring>

namespace longshore::detail {

put_exchange::put_exchange(team& team, std::size_t item_bytes, std::vector<int> targets)
    : block_exchange(team, item_bytes),
      targets_(std::move(targets)),
      reserved_(team.allocate(2 * sizeof(std::int64_t))) {}

std::byte* put_exchange::grow_incoming(std::size_t, std::size_t max_bytes) {
  return buffer_.grow(team_, max_bytes);
}

// Resets the counter of the last run. No rank uses that counter now: all ranks have ended the last
// run, and a barrier lies between this call and the next run that uses the counter.
void put_exchange::prepare_transfer(const block_counts&) {
  if (reserved_in_last_run_ > 0)
    reserved_->fetch_add(team_.rank(), counter(),
                         -static_cast<std::int64_t>(reserved_in_last_run_));
  ++runs_;
  reserved_in_last_run_ = 0;
}

std::size_t put_exchange::reserve(int target, std::size_t bytes) {
  return static_cast<std::size_t>(
      reserved_->fetch_add(target, counter(), static_cast<std::int64_t>(bytes)));
}

void put_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  const int me = team_.rank();
  reserved_in_last_run_ = incoming_starts_.back();
  if (bytes_to(me) > 0) {
    const std::size_t offset = reserve(me, bytes_to(me));
    std::memcpy(incoming_ + offset, outgoing + outgoing_starts_[me], bytes_to(me));
    team_.charge(work::copied_bytes, bytes_to(me));
  }
  for (const int target : targets_) {
    if (bytes_to(target) == 0) continue;
    buffer_.memory().put_start(target, reserve(target, bytes_to(target)),
                               outgoing + outgoing_starts_[target], bytes_to(target));
    count_message(target, sizeof(std::int64_t));
    count_message(target, bytes_to(target));
  }
  buffer_.memory().quiet();
}

}  // namespace longshore::detail
