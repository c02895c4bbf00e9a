// The exchange by which few ranks agree on graphs and plans: messages between any ranks, and a few
// numbers of all ranks, in as few collective calls as possible.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace longshore::detail {

/// Numbers of which all ranks learn the largest: as many on each rank.
using agreed_numbers = std::vector<std::int64_t>;
/// Gets the largest numbers of all ranks. It throws on all ranks or on none.
using when_agreed = std::function<void(const agreed_numbers&)>;

/// Collective. messages[r] goes to rank r; the result is indexed by rank as well. Calls `agreed`
/// before long messages are sent. One alltoall of at most 512 bytes per rank, which carries the
/// numbers and short messages; and an alltoallv if any rank has a longer message, except to
/// processes of the node with which it has shared a direct plan: these read up to 1 MiB of messages
/// in its memory.
[[nodiscard]] std::vector<std::vector<std::byte>> exchange_with_all(
    team& ranks, const std::vector<std::vector<std::byte>>& messages, const agreed_numbers& numbers,
    const when_agreed& agreed);

}  // namespace longshore::detail
