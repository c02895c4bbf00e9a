// The exchange strategies and orders of a bucket sort, and which strategies a run can use.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

class team;

/// How items travel to the rank of their bucket. Described at make_block_exchange, with costs.
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

/// The strategy or order with this name. Throws errc::usage, with the list of names, for an unknown
/// name.
[[nodiscard]] exchange_strategy exchange_strategy_of(std::string_view name);
[[nodiscard]] exchange_order exchange_order_of(std::string_view name);

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
