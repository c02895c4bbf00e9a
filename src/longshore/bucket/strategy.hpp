// The exchanges and orders of a bucket sort by name, and why one of them cannot be used.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

enum class bucket_exchange { put, sendrecv, alltoallv, rma, channel, automatic };
enum class exchange_order { round_robin, random, xor_, incast };

struct named_bucket_exchange {
  bucket_exchange exchange;
  std::string_view name;  ///< as typed
};
struct named_exchange_order {
  exchange_order order;
  std::string_view name;
};

/// All of them, also those that are not there yet.
inline constexpr std::array<named_bucket_exchange, 6> bucket_exchanges = {{
    {bucket_exchange::put, "put"},
    {bucket_exchange::sendrecv, "sendrecv"},
    {bucket_exchange::alltoallv, "alltoallv"},
    {bucket_exchange::rma, "rma"},
    {bucket_exchange::channel, "channel"},
    {bucket_exchange::automatic, "auto"},
}};
inline constexpr std::array<named_exchange_order, 4> exchange_orders = {{
    {exchange_order::round_robin, "round-robin"},
    {exchange_order::random, "random"},
    {exchange_order::xor_, "xor"},
    {exchange_order::incast, "incast"},
}};

[[nodiscard]] std::string_view name_of(bucket_exchange exchange) noexcept;
[[nodiscard]] std::string_view name_of(exchange_order order) noexcept;

/// The exchange or order of that name. Throw errc::usage that lists the names.
[[nodiscard]] bucket_exchange bucket_exchange_of(std::string_view name);
[[nodiscard]] exchange_order exchange_order_of(std::string_view name);

/// Why the two cannot be used together, or nothing.
[[nodiscard]] std::optional<std::string> why_not(bucket_exchange exchange, exchange_order order);

}  // namespace longshore
