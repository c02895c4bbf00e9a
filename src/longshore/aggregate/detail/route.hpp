// Routes of items: directly (1 hop), within the group and then between groups (2 hops), or within,
// between and within groups (3 hops). Routes are arithmetic on ranks and groups and the same on all
// ranks; hence a sender knows the links of the ranks that forward its items. Schemes: matrix and
// tensor of conveyors (bale, uconvey.pdf), NR and NLNR of YGM, meshes of TRAM.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// A partition of the ranks into groups, normally the nodes. Groups may differ in size.
class rank_groups {
 public:
  /// One group per node.
  explicit rank_groups(const node_map& nodes, int ranks);
  /// Groups of `group_ranks` consecutive ranks; the last group has the remainder.
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

/// How many streams of messages connect two groups on a route of 3 hops.
enum class stream_count {
  one,  ///< one per pair of groups: the fewest and fullest messages (the aggregator)
  /// if groups have more ranks than there are groups, enough that every rank owns a stream
  many,
};

/// The links of one rank, and its first step towards each other rank. Each hop has its own links:
/// link k of a hop leads to the k-th rank that this rank sends to on that hop. A pair of ranks has
/// one fixed route, which keeps its items in order.
///
/// With L ranks per group and G groups, (x, y) is place y of group x:
///     1 hop:  (x, y) -> (x', y')                                             P links
///     2 hops: (x, y) -> (x, y' mod L) -> (x', y')                            L - 1, P / L links
///     3 hops: (x, y) -> (x, owner of x') -> (x', owner of x) -> (x', y')
///             up to L - 1, about G / L, L links
/// An item skips a hop that would lead to the rank that holds it. With 3 hops, items within a group
/// take only the last hop.
class route {
 public:
  /// The first step of an item: a link of a hop, and a tag that encodes the remaining links.
  struct step {
    std::uint32_t hop, link, tag;
  };
  struct hop_links {
    std::vector<int> to, from;  ///< ranks, by link
    /// The lowest bits of a tag on this hop: the links of the following hops, the next hop lowest.
    /// 0 on the last hop.
    unsigned destination_bits;
    /// The bits above them: the rank that pushed the item. 0 on the first hop, whose link tells it.
    unsigned source_bits;
    /// How many destination bits of the previous hop select the link of this hop.
    unsigned link_bits;
    std::size_t tag_bytes;  ///< 0, 1, 2 or 4 per item
  };

  /// The links of rank `me` with 1, 2 or 3 hops. `groups` must outlive the route. Throws
  /// errc::usage for another number of hops, errc::unsupported if a tag needs more than 32 bits.
  /// Cost: O(ranks) time and memory, no communication.
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
