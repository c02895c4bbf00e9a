// Which ranks share a node.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// Maps ranks to nodes and back. Nodes are numbered in the order of their lowest ranks. A node is a
/// host, or a part of a host (a virtual node). Memory: 8 bytes per rank of the team.
class node_map {
 public:
  node_map() = default;

  /// `host_of[r]` is a number of the host of rank r: any number that ranks of one host share. With
  /// ranks_per_node > 0 every host is cut into virtual nodes of that many ranks, in rank order. The
  /// last node of a host has the remaining ranks.
  node_map(std::span<const int> host_of, int my_rank, int ranks_per_node);

  [[nodiscard]] int node_count() const noexcept { return node_count_; }
  /// Number of ranks of all nodes.
  [[nodiscard]] int rank_count() const noexcept { return static_cast<int>(node_of_.size()); }
  /// Node of a rank: 0 <= node < node_count().
  [[nodiscard]] int node_of(int rank) const noexcept { return node_of_[rank]; }
  /// Position of a rank among the ranks of its node, in rank order, from 0.
  [[nodiscard]] int local_index(int rank) const noexcept { return local_index_[rank]; }
  /// The node of this rank; the ranks of that node in ascending order; the number of those ranks.
  [[nodiscard]] int my_node() const noexcept { return my_node_; }
  [[nodiscard]] std::span<const int> my_ranks() const noexcept { return my_ranks_; }
  [[nodiscard]] int my_rank_count() const noexcept { return static_cast<int>(my_ranks_.size()); }
  /// Whether `rank` is on the node of this rank, also true for this rank itself.
  [[nodiscard]] bool is_local(int rank) const noexcept { return node_of_[rank] == my_node_; }
  /// Whether `rank` is on the host of this rank, in the same or in another virtual node.
  [[nodiscard]] bool is_on_host(int rank) const noexcept {
    return host_of_[rank] == host_of_[my_ranks_.front()];
  }
  /// Lowest rank of each node, indexed by node.
  [[nodiscard]] std::span<const int> leaders() const noexcept { return leaders_; }
  /// Lowest rank of the node of this rank.
  [[nodiscard]] int my_leader() const noexcept { return leaders_[my_node_]; }
  /// Number of ranks of the largest node.
  [[nodiscard]] int largest_node() const noexcept { return largest_node_; }
  /// Number of ranks on the host of this rank, in all of the host's virtual nodes.
  [[nodiscard]] int ranks_on_host() const noexcept { return ranks_on_host_; }
  /// Number of ranks on other hosts, of the rank that has most of these.
  [[nodiscard]] int most_ranks_off_host() const noexcept { return most_ranks_off_host_; }
  [[deprecated("use ranks_on_host()")]] int ranks_of_machine() const noexcept {
    return ranks_on_host_;
  }
  /// Whether there are more nodes than hosts.
  [[nodiscard]] bool is_virtual() const noexcept { return virtual_; }

 private:
  std::vector<int> host_of_, node_of_, local_index_, my_ranks_, leaders_;
  int node_count_ = 0, my_node_ = 0, largest_node_ = 0, ranks_on_host_ = 0,
      most_ranks_off_host_ = 0;
  bool virtual_ = false;
};

}  // namespace longshore
