// The exchanges and orders of a bucket sort by name, and why one of them cannot be used.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

class team;

/// How items reach the rank of their bucket: exchange.hpp says what each costs.
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
enum class exchange_order { round_robin, random, random_private, xor_, incast, node_aware };

struct named_exchange_strategy {
  exchange_strategy exchange;
  std::string_view name;  ///< as typed
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

/// The exchange or order of that name. Throw errc::usage that lists the names.
[[nodiscard]] exchange_strategy exchange_strategy_of(std::string_view name);
[[nodiscard]] exchange_order exchange_order_of(std::string_view name);

/// What of a run decides which exchanges make sense.
struct exchange_layout {
  bool mpi = false;  ///< the transport is mpi
  int nodes = 1, largest_node = 1;
};
[[nodiscard]] exchange_layout exchange_layout_of(const team& team);

/// Why the two cannot be used together in such a run, or nothing. The same on all ranks.
[[nodiscard]] std::optional<std::string> why_not(exchange_strategy exchange, exchange_order order,
                                                 const exchange_layout& layout);

/// Whether the place of an item depends on nothing but the input: what a stable sort needs. (With
/// put and rma it depends on who came first; auto chooses as asked.)
[[nodiscard]] constexpr bool is_deterministic(exchange_strategy exchange) noexcept {
  return exchange != exchange_strategy::put && exchange != exchange_strategy::rma;
}

}  // namespace longshore
