// The exchange strategies and orders of a bucket sort, and which strategies a run can use.
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <optional>
#include <string>

namespace longshore {

class team;

/// How items travel to the rank of their bucket. make_block_exchange describes them and their
/// costs.
enum class exchange_strategy {
  put,
  put_scan,
  direct,
  sendrecv,
  alltoallv,
  rma,
  channel,
  two_hop,
  automatic
};
/// The order in which a rank sends to the other ranks (docs/reference/sort.md).
enum class exchange_order { round_robin, random, random_private, xor_, incast, node_aware };

template <>
inline constexpr enum_names<9> all_names<exchange_strategy> = {
    "exchange of a sort",
    {"put", "put-scan", "direct", "sendrecv", "alltoallv", "rma", "channel", "two-hop", "auto"}};
template <>
inline constexpr enum_names<6> all_names<exchange_order> = {
    "order of a sort", {"round-robin", "random", "random-private", "xor", "incast", "node-aware"}};

/// The properties of a run that decide which exchanges are usable.
struct exchange_layout {
  bool mpi = false;      ///< the transport is mpi
  int nodes = 1;         ///< the number of nodes
  int largest_node = 1;  ///< the largest number of ranks on one node
};
[[nodiscard]] exchange_layout exchange_layout_of(const team& team);

/// Why a run cannot use this exchange with this order; nullopt if it can. The result is the same on
/// all ranks.
[[nodiscard]] std::optional<std::string> why_not(exchange_strategy exchange, exchange_order order,
                                                 const exchange_layout& layout);

/// Whether the order of incoming items depends on the input only, as a stable sort needs. With put
/// and rma that order also depends on timing. auto counts as deterministic: for a stable sort it
/// chooses a deterministic exchange.
[[nodiscard]] constexpr bool is_deterministic(exchange_strategy exchange) noexcept {
  return exchange != exchange_strategy::put && exchange != exchange_strategy::rma;
}

}  // namespace longshore
