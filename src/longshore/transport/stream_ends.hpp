// Ends of channels for streams of messages: enough slots between hosts to keep a network busy.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace longshore {

/// The slots of a channel to another host for streams of messages. Data occupy a slot until their
/// credit returns. So per round trip a network carries no more than all slots hold. These slots
/// hold `bytes_under_way` per rank and direction, divided among `links` channels of a rank, with at
/// least `min_slots` and at most 64 per channel. Both ends must pass the same numbers. Memory per
/// rank, if there are more than `min_slots`: up to `bytes_under_way` for outgoing, and as much for
/// incoming messages.
[[nodiscard]] int slots_between_hosts(std::size_t slot_bytes, std::size_t links, int min_slots,
                                      std::size_t bytes_under_way = std::size_t{2} << 20);

/// Ends of channels to or from `peers`, with `between_hosts` slots if the peer is on another host,
/// else with `slots`.
[[nodiscard]] std::vector<channel_end> stream_ends(const node_map& nodes,
                                                   std::span<const int> peers,
                                                   std::size_t slot_bytes, int slots,
                                                   int between_hosts);

}  // namespace longshore
