// Routes of messages through the links of a crossbar, a fat tree and a dragonfly.
#include <longshore/core/random.hpp>
#include <longshore/transport/simulated/detail/topology.hpp>

#include <algorithm>

namespace longshore::simulated {

topology::topology(const machine& described) : machine_(described) {
  const auto& links = machine_.topology;
  const auto size = [](auto... factors) { return (static_cast<std::size_t>(factors) * ...); };
  if (links.kind == machine::topology_kind::fat_tree) {
    const int switches = (machine_.nodes + links.nodes_per_switch - 1) / links.nodes_per_switch;
    second_part_ = size(switches, links.uplinks);
    free_at_.resize(2 * second_part_);
  } else if (links.kind == machine::topology_kind::dragonfly) {
    const int group_nodes = links.nodes_per_switch * links.routers_per_group;
    groups_ = (machine_.nodes + group_nodes - 1) / group_nodes;
    second_part_ = size(groups_, links.routers_per_group, links.routers_per_group);
    free_at_.resize(second_part_ + size(groups_, groups_, links.global_links));
  }
}

void topology::add_local(route& links, position& at, int to_router) const noexcept {
  if (at.router == to_router) return;
  const auto routers = static_cast<std::size_t>(machine_.topology.routers_per_group);
  links.add((at.group * routers + at.router) * routers + to_router);
  at.router = to_router;
}

// The links between two groups are spread over the routers of both.
void topology::add_global(route& links, position& at, int to_group, int link) const noexcept {
  const int count = machine_.topology.global_links, routers = machine_.topology.routers_per_group;
  add_local(links, at, (to_group * count + link) % routers);
  const auto pair = static_cast<std::size_t>(at.group) * groups_ + to_group;
  links.add(second_part_ + pair * count + link);
  at = {to_group, (at.group * count + link) % routers};
}

route topology::route_of(int from, int to) const noexcept {
  const auto& links = machine_.topology;
  route found;
  if (links.kind == machine::topology_kind::fat_tree) {
    const int from_switch = from / links.nodes_per_switch, to_switch = to / links.nodes_per_switch;
    if (from_switch == to_switch) return found;
    // The target decides the second switch, as in static routing. So no two targets of a switch
    // share a link down if there are as many uplinks as nodes.
    const int link = to % links.uplinks;
    found.add(static_cast<std::size_t>(from_switch) * links.uplinks + link);
    found.add(second_part_ + static_cast<std::size_t>(to_switch) * links.uplinks + link);
  } else if (links.kind == machine::topology_kind::dragonfly) {
    const auto hash = mix_bits(links.seed ^ mix_bits(static_cast<std::uint64_t>(from) << 32 | to));
    const int from_router = from / links.nodes_per_switch, to_router = to / links.nodes_per_switch,
              routers = links.routers_per_group, to_group = to_router / routers,
              link = static_cast<int>(hash % links.global_links);
    position at{from_router / routers, from_router % routers};
    if (links.valiant && at.group != to_group && groups_ > 2) {
      const auto [low, high] = std::minmax({at.group, to_group});
      int middle = static_cast<int>((hash >> 32) % static_cast<unsigned>(groups_ - 2));
      if (middle >= low) ++middle;
      if (middle >= high) ++middle;
      add_global(found, at, middle, link);
    }
    if (at.group != to_group) add_global(found, at, to_group, link);
    add_local(found, at, to_router % routers);
  }
  return found;
}

}  // namespace longshore::simulated
