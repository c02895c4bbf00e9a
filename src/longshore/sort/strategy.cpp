// The reasons why a run cannot use an exchange or an order of a bucket sort.
#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>

namespace longshore {
namespace {

// Why an exchange ignores the order of targets. Null if the exchange follows the order.
const char* why_no_order(exchange_strategy exchange) {
  switch (exchange) {
    case exchange_strategy::alltoallv: return "is one collective call";
    case exchange_strategy::direct: return "stores each item at its destination";
    case exchange_strategy::two_hop: return "has fixed routes";
    case exchange_strategy::automatic: return "chooses the order itself";
    case exchange_strategy::put:
    case exchange_strategy::put_scan:
    case exchange_strategy::sendrecv:
    case exchange_strategy::rma:
    case exchange_strategy::channel: return nullptr;
  }
  return nullptr;
}

}  // namespace

exchange_layout exchange_layout_of(const team& team) {
  return {team.transport_name() == "mpi", team.nodes().node_count(), team.nodes().largest_node()};
}

std::optional<std::string> why_not(exchange_strategy exchange, exchange_order order,
                                   const exchange_layout& layout) {
  if (const char* reason = why_no_order(exchange);
      reason != nullptr && order != exchange_order::round_robin)
    return fmt::format("order {} has no effect on exchange {}, which {}: use round-robin",
                       name_of(order), name_of(exchange), reason);
  if (order == exchange_order::node_aware && layout.nodes == 1)
    return "order node-aware sends to other nodes first, but there is one node only: use "
           "round-robin";
  if (exchange == exchange_strategy::rma && !layout.mpi)
    return "exchange rma consists of MPI calls and needs the transport mpi: use put, which works "
           "the same on every transport";
  if (exchange == exchange_strategy::two_hop && (layout.nodes == 1 || layout.largest_node == 1))
    return fmt::format(
        "exchange two-hop joins the blocks of a node's ranks for another node: it needs several "
        "nodes with several ranks, but this run has {} of at most {}",
        layout.nodes, layout.largest_node);
  return std::nullopt;
}

}  // namespace longshore
