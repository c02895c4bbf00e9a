// Gives each channel its number of slots, and refuses channels whose ends differ.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/channel_slots.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore {

const char* slot_mismatch::what() const noexcept { return error::what(); }

}  // namespace longshore

namespace longshore::detail {

std::vector<channel_end> with_slots(std::span<const channel_end> ends, int slots) {
  std::vector<channel_end> complete(ends.begin(), ends.end());
  for (auto& end : complete)
    if (end.slots == 0) end.slots = slots;
  const auto fewest = std::min_element(
      complete.begin(), complete.end(),
      [](const channel_end& a, const channel_end& b) { return a.slots < b.slots; });
  const int least = fewest == complete.end() ? slots : std::min(slots, fewest->slots);
  if (least < 1) fail(errc::usage, "a channel needs at least 1 slot, not {}", least);
  return complete;
}

void throw_slot_mismatch(int rank, int index, const channel_end& own, const channel_end& other) {
  throw slot_mismatch(fmt::format(
      "channel {} between ranks {} and {}: one end has {} slots of {} bytes, the other {} of {}",
      index, rank, own.peer, own.slots, own.slot_bytes, other.slots, other.slot_bytes));
}

}  // namespace longshore::detail
