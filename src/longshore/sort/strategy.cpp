#include <longshore/core/name_lookup.hpp>
#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>

namespace longshore {
namespace {

// Why the order of targets has no effect with an exchange, or null.
const char* why_no_order(exchange_strategy exchange) {
  switch (exchange) {
    case exchange_strategy::alltoallv: return "is one call";
    case exchange_strategy::direct: return "stores each item where it belongs as it comes";
    case exchange_strategy::two_hop: return "sends along fixed links";
    case exchange_strategy::automatic: return "chooses its own";
    default: return nullptr;
  }
}

}  // namespace

std::string_view name_of(exchange_strategy exchange) noexcept {
  for (const auto& known : exchange_strategies)
    if (known.exchange == exchange) return known.name;
  return "?";
}

std::string_view name_of(exchange_order order) noexcept {
  for (const auto& known : exchange_orders)
    if (known.order == order) return known.name;
  return "?";
}

exchange_strategy exchange_strategy_of(std::string_view name) {
  return exchange_strategies[index_of_name(exchange_strategies, name,
                                           "a bucket sort has no exchange")]
      .exchange;
}
exchange_order exchange_order_of(std::string_view name) {
  return exchange_orders[index_of_name(exchange_orders, name, "a bucket sort has no order")].order;
}

exchange_layout exchange_layout_of(const team& team) {
  return {team.transport_name() == "mpi", team.nodes().node_count(), team.nodes().largest_node()};
}

std::optional<std::string> why_not(exchange_strategy exchange, exchange_order order,
                                   const exchange_layout& layout) {
  if (const char* reason = why_no_order(exchange);
      reason != nullptr && order != exchange_order::round_robin)
    return fmt::format("order {} is without effect on exchange {}, which {}: use round-robin",
                       name_of(order), name_of(exchange), reason);
  if (order == exchange_order::node_aware && layout.nodes == 1)
    return "order node-aware serves other nodes first, and there is one node: use round-robin";
  if (exchange == exchange_strategy::rma && !layout.mpi)
    return "exchange rma is a sequence of MPI calls: it needs the transport mpi; put is the same "
           "on any transport";
  if (exchange == exchange_strategy::two_hop && (layout.nodes == 1 || layout.largest_node == 1))
    return fmt::format(
        "exchange two-hop joins what the ranks of a node send to another: it needs several nodes "
        "of several ranks, and "
        "here are {} of at most {}",
        layout.nodes, layout.largest_node);
  return std::nullopt;
}

}  // namespace longshore
