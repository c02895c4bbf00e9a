// Assigns ranks to nodes in rank order. A virtual node ends when it has its number of ranks, and
// the next rank of the same host begins a new node.
#include <longshore/transport/node_map.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace longshore {

/// The same for all ranks.
struct node_map::facts {
  detail::rank_partition nodes;
  std::vector<int> host_of, leaders;
  int largest_node = 0, most_ranks_off_host = 0;
  bool is_virtual = false;
};

node_map::node_map(std::span<const int> host_of, int my_rank, int ranks_per_node) {
  facts found;
  auto& [node_of, local_index, members] = found.nodes;
  found.host_of.assign(host_of.begin(), host_of.end());
  node_of.resize(host_of.size());
  local_index.resize(host_of.size());
  std::map<int, int> open_nodes;  // indexed by host: the node that is being filled
  std::map<int, int> host_ranks;  // indexed by host
  for (int rank = 0; rank < static_cast<int>(host_of.size()); ++rank) {
    ++host_ranks[host_of[rank]];
    const auto next_node = static_cast<int>(members.size());
    auto [open, is_new] = open_nodes.try_emplace(host_of[rank], next_node);
    if (!is_new && ranks_per_node > 0 &&
        static_cast<int>(members[open->second].size()) == ranks_per_node) {
      open->second = next_node;
      is_new = found.is_virtual = true;
    }
    if (is_new) {
      found.leaders.push_back(rank);
      members.emplace_back();
    }
    node_of[rank] = open->second;
    local_index[rank] = static_cast<int>(members[open->second].size());
    members[open->second].push_back(rank);
  }
  for (const auto& ranks : members)
    found.largest_node = std::max(found.largest_node, static_cast<int>(ranks.size()));
  const auto smallest_host =
      std::min_element(host_ranks.begin(), host_ranks.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  found.most_ranks_off_host = static_cast<int>(host_of.size()) - smallest_host->second;
  ranks_on_host_ = host_ranks[host_of[my_rank]];
  facts_ = std::make_shared<const facts>(std::move(found));
  place(my_rank);
}

node_map::node_map(const node_map& other, int my_rank) : facts_(other.facts_) {
  place(my_rank);
  ranks_on_host_ =
      my_host_ == other.my_host_
          ? other.ranks_on_host_
          : static_cast<int>(std::count(facts_->host_of.begin(), facts_->host_of.end(), my_host_));
}

void node_map::place(int my_rank) {
  node_of_ = facts_->nodes.group_of.data();
  local_index_ = facts_->nodes.position_of.data();
  rank_count_ = static_cast<int>(facts_->host_of.size());
  node_count_ = static_cast<int>(facts_->leaders.size());
  my_node_ = node_of_[my_rank];
  my_host_ = facts_->host_of[my_rank];
}

std::span<const int> node_map::ranks_of(int node) const noexcept {
  return facts_->nodes.members[node];
}

bool node_map::is_on_host(int rank) const noexcept { return facts_->host_of[rank] == my_host_; }

std::span<const int> node_map::leaders() const noexcept { return facts_->leaders; }

int node_map::my_leader() const noexcept { return facts_->leaders[my_node_]; }

int node_map::largest_node() const noexcept { return facts_->largest_node; }

int node_map::most_ranks_off_host() const noexcept { return facts_->most_ranks_off_host; }

bool node_map::is_virtual() const noexcept { return facts_->is_virtual; }

std::shared_ptr<const detail::rank_partition> node_map::partition() const noexcept {
  return {facts_, &facts_->nodes};
}

}  // namespace longshore
