// How far apart the caches of two ranks of a node are.
#pragma once

#include <longshore/transport/detail/direct_signals.hpp>
#include <longshore/transport/team.hpp>

#include <optional>

namespace longshore::detail {

/// What LONGSHORE_CACHES says of all caches: true for far, false for near, nothing if it is not set.
/// Throws errc::usage if it has another value.
[[nodiscard]] std::optional<bool> caches_by_environment();

/// Returns whether the caches of this rank and of `peer` are far: a cache line then takes about as
/// long from the other core as from memory. Both ranks call this, and get the same answer. If the
/// lower rank has `given`, this is the answer. If one of the ranks shares its core with others, the
/// caches are near. Otherwise a line makes 10 round trips, of 0.1 to 0.5 us each. The peer writes to
/// `from_peer` and polls `to_peer`. REQUIRES: both probes are 0.
[[nodiscard]] bool are_caches_far(team& ranks, int peer, direct_signals& from_peer,
                                  direct_signals& to_peer, std::optional<bool> given);

}  // namespace longshore::detail
