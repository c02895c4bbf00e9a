#include <longshore/transport/node_map.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace longshore {

node_map::node_map(std::span<const int> host_of, int my_rank, int ranks_per_node)
    : node_of_(host_of.size()), local_index_(host_of.size()) {
  struct open_node {
    int id, ranks;
  };
  std::map<int, open_node> current;  // by host: the node that is being filled
  std::vector<int> ranks_of;         // by node
  for (int rank = 0; rank < static_cast<int>(host_of.size()); ++rank) {
    auto [at, is_new] = current.try_emplace(host_of[rank], open_node{node_count_, 0});
    if (!is_new && ranks_per_node > 0 && at->second.ranks == ranks_per_node) {
      at->second = {node_count_, 0};
      is_new = true;
      virtual_ = true;
    }
    if (is_new) {
      leaders_.push_back(rank);
      ranks_of.push_back(0);
      ++node_count_;
    }
    node_of_[rank] = at->second.id;
    local_index_[rank] = at->second.ranks++;
    ++ranks_of[at->second.id];
  }
  my_node_ = node_of_[my_rank];
  for (int rank = 0; rank < static_cast<int>(host_of.size()); ++rank)
    if (node_of_[rank] == my_node_) my_ranks_.push_back(rank);
  ranks_on_host_ = static_cast<int>(std::count(host_of.begin(), host_of.end(), host_of[my_rank]));
  largest_node_ = *std::max_element(ranks_of.begin(), ranks_of.end());
}

}  // namespace longshore
