// Assigns ranks to nodes in rank order. A virtual node ends when it has its number of ranks, and
// the next rank of the same host begins a new node.
#include <longshore/transport/node_map.hpp>

#include <algorithm>
#include <map>

namespace longshore {

node_map::node_map(std::span<const int> host_of, int my_rank, int ranks_per_node)
    : host_of_(host_of.begin(), host_of.end()),
      node_of_(host_of.size()),
      local_index_(host_of.size()) {
  struct open_node {
    int id, ranks;
  };
  std::map<int, open_node> current;  // indexed by host: the node that is being filled
  std::vector<int> rank_counts;      // indexed by node
  std::map<int, int> host_ranks;     // indexed by host
  for (int rank = 0; rank < static_cast<int>(host_of.size()); ++rank) {
    ++host_ranks[host_of[rank]];
    auto [entry, is_new] = current.try_emplace(host_of[rank], open_node{node_count_, 0});
    if (!is_new && ranks_per_node > 0 && entry->second.ranks == ranks_per_node) {
      entry->second = {node_count_, 0};
      is_new = true;
      virtual_ = true;
    }
    if (is_new) {
      leaders_.push_back(rank);
      rank_counts.push_back(0);
      ++node_count_;
    }
    node_of_[rank] = entry->second.id;
    local_index_[rank] = entry->second.ranks++;
    ++rank_counts[entry->second.id];
  }
  my_node_ = node_of_[my_rank];
  for (int rank = 0; rank < static_cast<int>(host_of.size()); ++rank)
    if (node_of_[rank] == my_node_) my_ranks_.push_back(rank);
  ranks_on_host_ = host_ranks[host_of[my_rank]];
  const auto smallest_host =
      std::min_element(host_ranks.begin(), host_ranks.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  most_ranks_off_host_ = rank_count() - smallest_host->second;
  largest_node_ = *std::max_element(rank_counts.begin(), rank_counts.end());
}

}  // namespace longshore
