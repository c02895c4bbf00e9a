// Which ranks share a node: the one fact about the machine that every algorithm asks for.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// Ranks to nodes and back. Nodes are numbered in the order of their lowest rank. Memory: 8 bytes
/// per rank of the team.
class node_map {
 public:
  node_map() = default;

  /// `host_of[r]` says on which host rank r runs: any numbers, equal on equal hosts. With
  /// ranks_per_node > 0 every host is cut into virtual nodes of that many of its ranks, in rank
  /// order, the last one smaller when it does not divide.
  node_map(std::span<const int> host_of, int my_rank, int ranks_per_node);

  [[nodiscard]] int node_count() const noexcept { return node_count_; }
  /// Ranks of all nodes.
  [[nodiscard]] int rank_count() const noexcept { return static_cast<int>(node_of_.size()); }
  /// Node of a rank, 0 <= node < node_count().
  [[nodiscard]] int node_of(int rank) const noexcept { return node_of_[rank]; }
  /// Position of a rank among the ranks of its node, in rank order, from 0.
  [[nodiscard]] int local_index(int rank) const noexcept { return local_index_[rank]; }
  /// The node of this rank, its ranks in ascending order, and how many they are.
  [[nodiscard]] int my_node() const noexcept { return my_node_; }
  [[nodiscard]] std::span<const int> my_ranks() const noexcept { return my_ranks_; }
  [[nodiscard]] int my_rank_count() const noexcept { return static_cast<int>(my_ranks_.size()); }
  /// Whether a rank is on the node of this rank. A rank is on its own node.
  [[nodiscard]] bool is_local(int rank) const noexcept { return node_of_[rank] == my_node_; }
  /// Lowest rank of each node, by node.
  [[nodiscard]] std::span<const int> leaders() const noexcept { return leaders_; }
  /// Ranks of the node with the most ranks.
  [[nodiscard]] int largest_node() const noexcept { return largest_node_; }
  /// Ranks that share the machine of this rank, whatever its virtual nodes: they have its memory
  /// together.
  [[nodiscard]] int ranks_of_machine() const noexcept { return ranks_of_machine_; }
  /// Whether nodes are virtual: more of them than hosts.
  [[nodiscard]] bool is_virtual() const noexcept { return virtual_; }

 private:
  std::vector<int> node_of_, local_index_, my_ranks_, leaders_;
  int node_count_ = 0, my_node_ = 0, largest_node_ = 0, ranks_of_machine_ = 0;
  bool virtual_ = false;
};

}  // namespace longshore
