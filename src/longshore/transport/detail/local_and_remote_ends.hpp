// Splits lists of channel ends into local ends, which are rings, and ends of other kinds.
#pragma once

#include <longshore/transport/channel.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// `local` and `remote` keep the order of the original list.
struct ends_by_locality {
  std::vector<channel_end> local, remote;
};

/// `is_local(peer)` says where the ends with a peer belong.
template <class IsLocal>
[[nodiscard]] ends_by_locality split(std::span<const channel_end> ends, const IsLocal& is_local) {
  ends_by_locality parts;
  for (const auto& end : ends) (is_local(end.peer) ? parts.local : parts.remote).push_back(end);
  return parts;
}

/// Returns the opened ends in the order of `ends`. A call of next_local() or next_remote() gives
/// the next opened local or remote end.
template <class End, class IsLocal, class NextLocal, class NextRemote>
[[nodiscard]] std::vector<End*> merge_ends(std::span<const channel_end> ends,
                                           const IsLocal& is_local, NextLocal next_local,
                                           NextRemote next_remote) {
  std::vector<End*> opened;
  for (const auto& end : ends)
    opened.push_back(is_local(end.peer) ? static_cast<End*>(next_local()) : next_remote());
  return opened;
}

}  // namespace longshore::detail
