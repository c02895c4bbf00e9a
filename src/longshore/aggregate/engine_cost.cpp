// Predicts links, buffers and messages of an engine without sending anything. Computes the routes
// of the ranks of the first group, and takes the maxima and means over these ranks.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/aggregate/engine_cost.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/core/error.hpp>

#include <algorithm>
#include <cmath>

namespace longshore {
namespace {

using detail::message_layout;

// Larger buffers gain little and no longer fit the cache.
constexpr std::size_t max_default_items = 1024;
constexpr std::size_t overhead_bytes =
    message_layout::push_time_bytes + message_layout::flag_bytes + cache_line_bytes;

int count_offnode(const node_map& nodes, std::span<const int> peers, int me) {
  return static_cast<int>(std::count_if(
      peers.begin(), peers.end(), [&](int p) { return nodes.node_of(p) != nodes.node_of(me); }));
}

struct group_costs {
  std::vector<hop_cost> hops;  // the maximum over the ranks of the group
  // Of the rank that has the most: buffers, without the additional ones, and links to other ranks of
  // the node, which have one buffer more (staged_slot).
  std::size_t max_buffers = 0, max_staged = 0;
  std::vector<double> share_of_items;  // the share of a rank's items that take each hop, 0 to 1
};

group_costs costs_of_group(const node_map& nodes, const detail::rank_groups& groups, int hops,
                           const engine_options& options, detail::stream_count streams,
                           std::span<const int> ranks) {
  group_costs costs{.hops = std::vector<hop_cost>(static_cast<std::size_t>(hops)),
                    .share_of_items = std::vector<double>(static_cast<std::size_t>(hops))};
  for (const int me : ranks) {
    const detail::route route(groups, me, hops, options.with_source, streams);
    std::size_t buffers = 0, staged = 0;
    for (int h = 0; h < hops; ++h) {
      const auto& links = route.links(h);
      hop_cost& hop = costs.hops[h];
      hop.links = std::max(hop.links, links.to.size());
      hop.offnode_links =
          std::max(hop.offnode_links, static_cast<std::size_t>(count_offnode(nodes, links.to, me)));
      hop.tag_bytes = links.tag_bytes;
      buffers += links.to.size() + static_cast<std::size_t>(count_offnode(nodes, links.from, me));
      for (const int peer : links.to)
        staged += peer != me && nodes.node_of(peer) == nodes.node_of(me) ? 1 : 0;
    }
    costs.max_buffers = std::max(costs.max_buffers, buffers);
    costs.max_staged = std::max(costs.max_staged, staged);
    for (const auto& step : route.first_steps())
      for (int h = static_cast<int>(step.hop); h < hops; ++h)
        costs.share_of_items[h] += 1.0 / groups.ranks() / static_cast<double>(ranks.size());
  }
  return costs;
}

}  // namespace

std::size_t detail::choose_buffer_items(std::size_t wanted, std::size_t memory_bytes,
                                        std::size_t buffers, std::size_t bytes_per_item) {
  if (wanted > 0) return wanted;
  std::size_t items = max_default_items;
  while (items > 1 && buffers * (items * bytes_per_item + overhead_bytes) > memory_bytes)
    items /= 2;
  return items;
}

engine_cost predict_engine_cost(engine_kind kind, const engine_options& options, int ranks,
                                int ranks_per_node, double items_per_rank) {
  if (ranks < 1 || ranks_per_node < 1 || items_per_rank < 0)
    fail(errc::usage,
         "the cost of an engine cannot be predicted for {} ranks, {} per node and {} items per "
         "rank: give at least 1, 1 and 0",
         ranks, ranks_per_node, items_per_rank);
  const std::vector<int> host_of_rank(static_cast<std::size_t>(ranks), 0);
  const node_map nodes(host_of_rank, 0, ranks_per_node);
  const int hops = kind == engine_kind::conveyor     ? options.hops
                   : kind == engine_kind::aggregator ? aggregator::hops_on(nodes)
                                                     : 1;
  const detail::rank_groups groups =
      kind == engine_kind::conveyor ? detail::choose_groups(nodes, ranks, hops, options.group_ranks)
                                    : detail::rank_groups(nodes);
  const auto streams =
      kind == engine_kind::aggregator ? detail::stream_count::one : detail::stream_count::many;
  const group_costs first_group =
      costs_of_group(nodes, groups, hops, options, streams, groups.members(0));
  engine_cost cost{.hops = first_group.hops};
  const std::size_t slots = kind == engine_kind::exstack
                                ? std::size_t{exstack::slots_per_channel}
                                : static_cast<std::size_t>(std::max(1, options.slots));
  std::size_t largest_tag = 0;
  for (const auto& hop : cost.hops) largest_tag = std::max(largest_tag, hop.tag_bytes);
  cost.buffer_items = detail::choose_buffer_items(options.buffer_items, options.memory_bytes,
                                                  first_group.max_buffers * slots,
                                                  options.item_bytes + largest_tag);
  const message_layout format{options.item_bytes, cost.buffer_items, largest_tag};
  cost.memory_bytes = (first_group.max_buffers * slots + first_group.max_staged) *
                      round_up(format.slot_bytes(), cache_line_bytes);
  const auto capacity = static_cast<double>(cost.buffer_items);
  for (int h = 0; h < hops; ++h) {
    hop_cost& hop = cost.hops[h];
    hop.items = items_per_rank * first_group.share_of_items[h];
    if (hop.links == 0) continue;
    const auto links = static_cast<double>(hop.links);
    hop.messages = links * (std::floor(hop.items / links / capacity) + 1);
    hop.fill = hop.items / (hop.messages * capacity);
  }
  return cost;
}

}  // namespace longshore
