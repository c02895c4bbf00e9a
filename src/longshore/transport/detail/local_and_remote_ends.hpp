// Splitting lists of channel ends: peers on the same node, and peers on other nodes.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/node_map.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// `local` and `remote` keep the order of the original list.
struct ends_by_locality {
  std::vector<channel_end> local, remote;
};

[[nodiscard]] inline ends_by_locality split_by_locality(const node_map& nodes,
                                                        std::span<const channel_end> ends) {
  ends_by_locality parts;
  for (const auto& end : ends)
    (nodes.is_local(end.peer) ? parts.local : parts.remote).push_back(end);
  return parts;
}

/// The opened ends, in the order of `ends`. A call of next_local() or next_remote() gives the next
/// opened local or remote end.
template <class End, class NextLocal, class NextRemote>
[[nodiscard]] std::vector<End*> merge_ends(const node_map& nodes, std::span<const channel_end> ends,
                                           NextLocal next_local, NextRemote next_remote) {
  std::vector<End*> opened;
  for (const auto& end : ends)
    opened.push_back(nodes.is_local(end.peer) ? static_cast<End*>(next_local()) : next_remote());
  return opened;
}

}  // namespace longshore::detail
