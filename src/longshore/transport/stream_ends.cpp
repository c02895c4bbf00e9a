// Divides the memory for messages under way to other hosts among the channels of a rank.
#include <longshore/transport/stream_ends.hpp>

#include <algorithm>

namespace longshore {

int slots_between_hosts(std::size_t slot_bytes, std::size_t links, int min_slots,
                        std::size_t bytes_under_way) {
  constexpr std::size_t max_slots = 64;
  const std::size_t affordable =
      bytes_under_way / std::max<std::size_t>(1, slot_bytes) / std::max<std::size_t>(1, links);
  return std::max(min_slots, static_cast<int>(std::min(affordable, max_slots)));
}

std::vector<channel_end> stream_ends(const node_map& nodes, std::span<const int> peers,
                                     std::size_t slot_bytes, int slots, int between_hosts) {
  std::vector<channel_end> ends;
  ends.reserve(peers.size());
  for (const int peer : peers)
    ends.push_back({peer, slot_bytes, nodes.is_on_host(peer) ? slots : between_hosts});
  return ends;
}

}  // namespace longshore
