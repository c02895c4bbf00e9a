#include <longshore/sort/detail/put_exchange.hpp>

#include <cstring>

namespace longshore::detail {

claimed_put::claimed_put(team& team, std::size_t item_bytes, std::vector<int> targets)
    : block_exchange(team, item_bytes),
      targets_(std::move(targets)),
      claimed_(team.allocate(2 * sizeof(std::int64_t))) {}

std::byte* claimed_put::make_room(std::size_t, std::size_t most_bytes) {
  return room_.grow(team_, most_bytes);
}

// All ranks have ended the last run, and between this call and the next all meet: nobody claims on
// the old counter meanwhile.
void claimed_put::agree(const block_counts&) {
  if (claimed_last_ > 0)
    claimed_->fetch_add(team_.rank(), counter(), -static_cast<std::int64_t>(claimed_last_));
  ++runs_;
  claimed_last_ = 0;
}

// Reserves room at a target; returns where it begins.
std::size_t claimed_put::claim(int target, std::size_t bytes) {
  return static_cast<std::size_t>(
      claimed_->fetch_add(target, counter(), static_cast<std::int64_t>(bytes)));
}

void claimed_put::move(const std::byte* outgoing, const arrival&) {
  const int me = team_.rank();
  claimed_last_ = in_.back();  // from here on others may claim
  if (bytes_to(me) > 0) {
    const std::size_t place = claim(me, bytes_to(me));
    std::memcpy(incoming_ + place, outgoing + out_[me], bytes_to(me));
  }
  for (const int target : targets_) {
    if (bytes_to(target) == 0) continue;
    room_.memory().put_start(target, claim(target, bytes_to(target)), outgoing + out_[target],
                             bytes_to(target));
    count_message(target, sizeof(std::int64_t));
    count_message(target, bytes_to(target));
  }
  room_.memory().quiet();
}

scanned_put::scanned_put(team& team, std::size_t item_bytes, std::vector<int> targets, bool direct)
    : block_exchange(team, item_bytes),
      targets_(std::move(targets)),
      direct_(direct),
      there_(static_cast<std::size_t>(team.size())) {}

std::byte* scanned_put::make_room(std::size_t, std::size_t most_bytes) {
  return room_.grow(team_, most_bytes);
}

void scanned_put::agree(const block_counts&) {
  team_.alltoall(std::as_bytes(std::span(in_.data(), there_.size())),
                 std::as_writable_bytes(std::span(there_)));
  count_to_all(sizeof(std::size_t));
  if (!direct_) return;
  places_.resize(there_.size());
  for (int target = 0; target < team_.size(); ++target) {
    std::byte* const part = room_.memory().direct(target);
    places_[target] = part == nullptr ? nullptr : part + there_[target];
  }
}

void scanned_put::move(const std::byte* outgoing, const arrival&) {
  if (!direct_) copy_own_block(outgoing, nullptr);
  for (const int target : targets_) {
    if (bytes_to(target) == 0 || (direct_ && places_[target] != nullptr)) continue;
    room_.memory().put_start(target, there_[target], outgoing + out_[target], bytes_to(target));
    count_message(target, bytes_to(target));
  }
  room_.memory().quiet();
}

}  // namespace longshore::detail
