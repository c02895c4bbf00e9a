// The exchange strategies and orders of a bucket sort, their names, and which of them can be used
// in a run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

class team;

/// The ways in which items travel to the rank of their bucket. make_block_exchange documents them
/// and their costs.
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
/// The order in which a rank sends to the others (docs/reference/sort.md).
enum class exchange_order { round_robin, random, random_private, xor_, incast, node_aware };

struct named_exchange_strategy {
  exchange_strategy exchange;
  std::string_view name;  ///< on the command line
};
struct named_exchange_order {
  exchange_order order;
  std::string_view name;
};

inline constexpr std::array<named_exchange_strategy, 9> exchange_strategies = {{
    {exchange_strategy::put, "put"},
    {exchange_strategy::put_scan, "put-scan"},
    {exchange_strategy::direct, "direct"},
    {exchange_strategy::sendrecv, "sendrecv"},
    {exchange_strategy::alltoallv, "alltoallv"},
    {exchange_strategy::rma, "rma"},
    {exchange_strategy::channel, "channel"},
    {exchange_strategy::two_hop, "two-hop"},
    {exchange_strategy::automatic, "auto"},
}};
inline constexpr std::array<named_exchange_order, 6> exchange_orders = {{
    {exchange_order::round_robin, "round-robin"},
    {exchange_order::random, "random"},
    {exchange_order::random_private, "random-private"},
    {exchange_order::xor_, "xor"},
    {exchange_order::incast, "incast"},
    {exchange_order::node_aware, "node-aware"},
}};

[[nodiscard]] std::string_view name_of(exchange_strategy exchange) noexcept;
[[nodiscard]] std::string_view name_of(exchange_order order) noexcept;

/// The strategy or order with this name. For an unknown name: throws errc::usage with the list of
/// names.
[[nodiscard]] exchange_strategy exchange_strategy_of(std::string_view name);
[[nodiscard]] exchange_order exchange_order_of(std::string_view name);

/// The properties of a run that decide which exchanges it can use.
struct exchange_layout {
  bool mpi = false;      ///< the transport is mpi
  int nodes = 1;         ///< the number of nodes
  int largest_node = 1;  ///< the largest number of ranks on one node
};
[[nodiscard]] exchange_layout exchange_layout_of(const team& team);

/// The reason why a run cannot use this exchange with this order, or nothing if it can. The result
/// is the same on all ranks.
[[nodiscard]] std::optional<std::string> why_not(exchange_strategy exchange, exchange_order order,
                                                 const exchange_layout& layout);

/// Whether the place of each item depends on the input only. A stable sort needs that. With put and
/// rma it also depends on timing. auto counts as deterministic: a stable sort makes it choose among
/// the deterministic exchanges.
[[nodiscard]] constexpr bool is_deterministic(exchange_strategy exchange) noexcept {
  return exchange != exchange_strategy::put && exchange != exchange_strategy::rma;
}

}  // namespace longshore
