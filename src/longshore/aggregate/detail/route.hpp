// The routes of items of a conveyor. With 1 hop an item goes directly to its rank. With 2 hops it
// goes within the group of the sender, and then between groups; with 3 hops it goes within, between
// and within groups. All ranks compute the same routes, so a sender knows which links the relaying
// ranks must take, and writes these links into the item's tag. Source: bale (uconvey.pdf), whose
// conveyors with 2 and 3 hops are called matrix and tensor; YGM calls the schemes NR and NLNR.
#pragma once

#include <longshore/transport/node_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::detail {

/// A partition of the ranks into groups, normally the nodes. Groups may differ in size.
class rank_groups {
 public:
  /// One group per node. Shares the memory of `nodes`.
  explicit rank_groups(const node_map& nodes) : rank_groups(nodes.partition()) {}
  /// Groups of `group_ranks` consecutive ranks; the last group has the remainder.
  rank_groups(int ranks, int group_ranks);

  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(groups_->group_of.size()); }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(groups_->members.size()); }
  [[nodiscard]] int group_of(int rank) const noexcept { return group_of_[rank]; }
  /// The position of `rank` in its group.
  [[nodiscard]] int position_of(int rank) const noexcept { return position_of_[rank]; }
  [[nodiscard]] std::span<const int> members(int group) const noexcept;
  /// The rank at a position of a group.
  [[nodiscard]] int member(int group, std::size_t position) const noexcept {
    return members_[group][position];
  }
  [[nodiscard]] int size_of(int group) const noexcept {
    return static_cast<int>(members_[group].size());
  }
  [[nodiscard]] int smallest() const noexcept;
  [[nodiscard]] int largest() const noexcept;

 private:
  explicit rank_groups(std::shared_ptr<const rank_partition> groups)
      : groups_(std::move(groups)),
        group_of_(groups_->group_of.data()),
        position_of_(groups_->position_of.data()),
        members_(groups_->members.data()) {}

  std::shared_ptr<const rank_partition> groups_;
  const int *group_of_, *position_of_;  // in the memory of groups_, like members_
  const std::vector<int>* members_;
};

/// The groups between which a conveyor of several hops routes items. Groups of `group_ranks`
/// consecutive ranks if `group_ranks` is not 0. Otherwise the nodes, if there are several nodes and
/// one of them has several ranks. Otherwise groups of the size L that needs the fewest buffers:
/// with P ranks, P/L + L buffers for 2 hops and P/L^2 + 2 L for 3 hops.
[[nodiscard]] rank_groups choose_groups(const node_map& nodes, int ranks, int hops,
                                        int group_ranks);

/// How many streams of messages connect two groups on a route of 3 hops.
enum class stream_count {
  one,   ///< for the fewest and fullest messages (the aggregator)
  many,  ///< so many that each rank of the smallest group has a stream, but at least one
};

/// The links of one rank, and the first step of an item towards each rank. Each hop has its own
/// links: link k of a hop leads to the k-th rank that this rank sends to on that hop. A pair of
/// ranks has one fixed route, so its items stay in order.
///
/// (x, y) is the rank at position y of group x. An item from (x, y) to (x', y') goes this way:
///     1 hop:  (x, y) -> (x', y')
///     2 hops: (x, y) -> (x, y') -> (x', y')
///     3 hops: (x, y) -> (x, owner of x') -> (x', owner of x) -> (x', y')
/// Two groups exchange messages over one stream or several (stream_count). The owner of a stream in
/// each of the two groups is the rank that sends and receives its messages; position y' selects the
/// stream. If group x has no position y', 2 hops go over position y' mod (size of x).
///
/// The number of links of a rank with P ranks in G groups of L ranks, and `many` streams:
///                hop 1           hop 2                     hop 3
///     1 hop:     P
///     2 hops:    L - 1           G
///     3 hops:    at most L - 1   about G / L, at least 1   L
/// An item skips a hop that would lead to the rank that holds the item. With 3 hops, items within a
/// group take only the last hop.
class route {
 public:
  /// The first step of an item: a link of a hop, and a tag that encodes the remaining links.
  /// With 3 hops, a tag has these fields, from high to low bits. With 2 hops, hop 1 has only the
  /// link of hop 2, and hop 2 only the source.
  ///     on hop 1:  | link of hop 3 | link of hop 2 |
  ///     on hop 2:        | source  | link of hop 3 |
  ///     on hop 3:                  | source        |
  struct step {
    std::uint32_t hop, link, tag;
  };
  struct hop_links {
    std::vector<int> to, from;  ///< the rank at the other end of each link
    /// On this hop, the bits of all link fields of a tag together. 0 on the last hop.
    unsigned destination_bits;
    /// On this hop, the bits of the field source, which names the rank that pushed the item. 0 on
    /// the first hop, since the message comes from this rank. 0 if no sources are wanted.
    unsigned source_bits;
    /// On the previous hop, the bits of the field that names the link of this hop.
    unsigned link_bits;
    std::size_t tag_bytes;  ///< 0, 1, 2 or 4 per item
  };

  /// The route of rank `me` with 1, 2 or 3 hops. `with_source`: tags name the rank that pushed the
  /// item. `groups` must outlive the route. Throws errc::usage for another number of hops, and
  /// errc::unsupported if a tag needs more than 32 bits. Local. Cost: O(ranks) time and memory.
  route(const rank_groups& groups, int me, int hops, bool with_source,
        stream_count streams = stream_count::many);

  [[nodiscard]] int hops() const noexcept { return static_cast<int>(links_.size()); }
  [[nodiscard]] const hop_links& links(int hop) const noexcept { return links_[hop]; }
  /// Indexed by destination.
  [[nodiscard]] std::span<const step> first_steps() const noexcept;
  /// The route has no first steps any more.
  [[nodiscard]] std::vector<step> take_first_steps() noexcept;

 private:
  void make_one_hop();
  void make_two_hops();
  void make_three_hops(stream_count streams);
  void set_tag_sizes(bool with_source);

  const rank_groups& groups_;
  int me_;
  int group_, position_;  // of rank me_
  std::vector<hop_links> links_;
  std::vector<step> first_steps_;
};

}  // namespace longshore::detail
