// Gives each channel its number of slots.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/channel_slots.hpp>

#include <algorithm>

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

}  // namespace longshore::detail
