// The slots of the channels of one call of team::open_channels().
#pragma once

#include <longshore/transport/channel.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// The ends with the slots that their channels get: those of the end, or else `slots`. Throws
/// errc::usage unless each channel gets at least one.
[[nodiscard]] std::vector<channel_end> with_slots(std::span<const channel_end> ends, int slots);

/// Throws slot_mismatch: at `rank`, channel `index` with `peer` has slots as `own`, and at the peer
/// as `other`.
[[noreturn]] void throw_slot_mismatch(int rank, int index, const channel_end& own,
                                      const channel_end& other);

}  // namespace longshore::detail
