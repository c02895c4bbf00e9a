// The slots of the channels of one call of team::open_channels().
#pragma once

#include <longshore/transport/channel.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// Returns the ends. An end without a number of slots (0) gets `slots`. Throws errc::usage unless
/// each channel gets at least one slot.
[[nodiscard]] std::vector<channel_end> with_slots(std::span<const channel_end> ends, int slots);

/// Throws slot_mismatch for channel `index` between `rank` and a peer, with the slots of `own` at
/// `rank`, and the slots of `other` at the peer.
[[noreturn]] void throw_slot_mismatch(int rank, int index, const channel_end& own,
                                      const channel_end& other);

}  // namespace longshore::detail
