// Which ranks an item passes on its way: 1 hop, 2 hops (within the group, then between groups), 3
// hops (within, between, within). Pure arithmetic on ranks and groups, the same on all ranks, so
// that a sender knows the links of those who will pass its item on. Schemes: matrix and tensor of
// conveyors (bale, uconvey.pdf), NR and NLNR of YGM, TRAM's meshes.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Ranks in groups, normally the nodes. Sizes may differ.
class rank_groups {
 public:
  /// One group per node.
  explicit rank_groups(const node_map& nodes, int ranks);
  /// Consecutive ranks in groups of `group_ranks`, the last one smaller when it does not divide.
  rank_groups(int ranks, int group_ranks);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(group_of_.size()); }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] int group_of(int rank) const noexcept { return group_of_[rank]; }
  /// Position of a rank in its group.
  [[nodiscard]] int place_of(int rank) const noexcept { return place_of_[rank]; }
  [[nodiscard]] std::span<const int> members(int group) const noexcept { return members_[group]; }
  [[nodiscard]] int size_of(int group) const noexcept {
    return static_cast<int>(members_[group].size());
  }
  [[nodiscard]] int smallest() const noexcept;
  [[nodiscard]] int largest() const noexcept;

 private:
  std::vector<int> group_of_, place_of_;
  std::vector<std::vector<int>> members_;
};

/// How many streams 3 hops have between two groups.
enum class stream_count {
  one,  ///< exactly one per pair of groups: the fewest and fullest messages (the aggregator)
  /// where groups have more ranks than there are groups, so many that every rank has one: no rank
  /// idles
  many,
};

/// The way of items from one rank to all others, seen by that rank. Every hop is a set of links;
/// the k-th link of a hop at its sending rank is its lane k. The way of one pair of ranks is always
/// the same, so that order is kept.
///
/// With L ranks per group and G groups, (x, y) being place y of group x:
///     1 hop:  (x, y) -> (x', y')                                             P links
///     2 hops: (x, y) -> (x, y' mod L) -> (x', y')                            L - 1, then P / L links
///     3 hops: (x, y) -> (x, owner of x') -> (x', owner of x) -> (x', y')     up to L - 1, some G / L, then L links
/// An item skips a hop that would lead to the rank where it is. With 3 hops, items within a group
/// make the last hop only.
class route {
 public:
  /// Where the sender puts an item: a lane of a hop, and the rest of the way as a number.
  struct step {
    std::uint32_t hop, lane, tag;
  };
  struct hop_links {
    std::vector<int> to, from;  ///< ranks, by lane
    /// low bits of a tag on this hop: lanes of the hops to come, nearest lowest; 0 on the last
    unsigned destination_bits;
    /// next bits: who pushed the item; 0 on the first hop, where the link says it
    unsigned source_bits;
    /// of the destination bits of the hop before, those that choose the lane of this hop
    unsigned lane_bits;
    std::size_t tag_bytes;  ///< 0, 1, 2 or 4 per item
  };

  /// `me` on `groups` with 1, 2 or 3 hops. Throws errc::usage for other hops, errc::unsupported
  /// when a tag would not fit into 32 bits. Cost: O(ranks) time and memory, no communication.
  route(const rank_groups& groups, int me, int hops, bool with_source,
        stream_count streams = stream_count::many);

  [[nodiscard]] int hops() const noexcept { return static_cast<int>(links_.size()); }
  [[nodiscard]] const hop_links& links(int hop) const noexcept { return links_[hop]; }
  /// The first step towards each rank.
  [[nodiscard]] std::span<const step> first_steps() const noexcept { return first_; }

 private:
  void one_hop();
  void two_hops();
  void three_hops(stream_count streams);
  void give_tag_sizes(bool with_source);

  const rank_groups& groups_;
  int me_, group_, place_;
  std::vector<hop_links> links_;
  std::vector<step> first_;
};

}  // namespace longshore::detail
