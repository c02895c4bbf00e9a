// Which ranks share a node.
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace longshore {

namespace detail {

/// A division of the ranks into groups.
struct rank_partition {
  std::vector<int> group_of, position_of;  ///< indexed by rank
  std::vector<std::vector<int>> members;   ///< indexed by group: its ranks, ascending
};

}  // namespace detail

/// Maps ranks to nodes and back. Nodes are numbered in the order of their lowest ranks. A node is a
/// host, or a part of a host (a virtual node). Memory: 16 bytes per rank of the team, which copies
/// share.
class node_map {
 public:
  node_map() = default;

  /// `host_of[r]` is a number of the host of rank r: any number that ranks of one host share. With
  /// ranks_per_node > 0 every host is cut into virtual nodes of that many ranks, in rank order. The
  /// last node of a host has the remaining ranks.
  node_map(std::span<const int> host_of, int my_rank, int ranks_per_node);
  /// The map of rank `my_rank`. Shares the memory of `other`, another rank's map.
  node_map(const node_map& other, int my_rank);

  [[nodiscard]] int node_count() const noexcept { return node_count_; }
  /// Number of ranks of all nodes.
  [[nodiscard]] int rank_count() const noexcept { return rank_count_; }
  /// Node of a rank: 0 <= node < node_count().
  [[nodiscard]] int node_of(int rank) const noexcept { return node_of_[rank]; }
  /// Position of a rank among the ranks of its node, in rank order, from 0.
  [[nodiscard]] int local_index(int rank) const noexcept { return local_index_[rank]; }
  /// The node of this rank; the ranks of that node in ascending order; the number of those ranks.
  [[nodiscard]] int my_node() const noexcept { return my_node_; }
  [[nodiscard]] std::span<const int> my_ranks() const noexcept { return ranks_of(my_node_); }
  [[nodiscard]] int ranks_on_my_node() const noexcept {
    return static_cast<int>(my_ranks().size());
  }
  /// The ranks of a node in ascending order.
  [[nodiscard]] std::span<const int> ranks_of(int node) const noexcept;
  /// Whether `rank` is on the node of this rank, also true for this rank itself.
  [[nodiscard]] bool is_local(int rank) const noexcept { return node_of_[rank] == my_node_; }
  /// Whether `rank` is on the host of this rank, in the same or in another virtual node.
  [[nodiscard]] bool is_on_host(int rank) const noexcept;
  /// Lowest rank of each node, indexed by node.
  [[nodiscard]] std::span<const int> leaders() const noexcept;
  /// Lowest rank of the node of this rank.
  [[nodiscard]] int my_leader() const noexcept;
  /// Number of ranks of the largest node.
  [[nodiscard]] int largest_node() const noexcept;
  /// Number of ranks on the host of this rank, in all of the host's virtual nodes.
  [[nodiscard]] int ranks_on_host() const noexcept { return ranks_on_host_; }
  /// Number of ranks on other hosts, seen from the smallest host, where this number is largest.
  [[nodiscard]] int most_ranks_off_host() const noexcept;
  /// Whether there are more nodes than hosts.
  [[nodiscard]] bool is_virtual() const noexcept;
  /// The ranks by nodes.
  [[nodiscard]] std::shared_ptr<const detail::rank_partition> partition() const noexcept;

 private:
  struct facts;
  void place(int my_rank);

  std::shared_ptr<const facts> facts_;
  const int *node_of_ = nullptr, *local_index_ = nullptr;  // of facts_
  int rank_count_ = 0, node_count_ = 0, my_node_ = 0, my_host_ = 0, ranks_on_host_ = 0;
};

}  // namespace longshore
