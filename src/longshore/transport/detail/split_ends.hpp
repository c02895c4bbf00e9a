// Ends of channels apart by how they are made: in memory that both ranks share, or by messages.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/node_map.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// Each in the order in which they were named.
struct split_ends {
  std::vector<channel_end> near, far;
};

[[nodiscard]] inline split_ends split(const node_map& nodes, std::span<const channel_end> ends) {
  split_ends parts;
  for (const auto& end : ends) (nodes.is_local(end.peer) ? parts.near : parts.far).push_back(end);
  return parts;
}

/// The ends that were made, in the order in which they were named. `next_near` and `next_far` give
/// one after the other.
template <class End, class NextNear, class NextFar>
[[nodiscard]] std::vector<End*> in_order(const node_map& nodes, std::span<const channel_end> ends,
                                         NextNear next_near, NextFar next_far) {
  std::vector<End*> made;
  for (const auto& end : ends)
    made.push_back(nodes.is_local(end.peer) ? static_cast<End*>(next_near()) : next_far());
  return made;
}

}  // namespace longshore::detail
