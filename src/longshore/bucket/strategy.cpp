#include <longshore/bucket/strategy.hpp>
#include <longshore/core/error.hpp>

namespace longshore {
namespace {

template <class Table>
auto entry_of(const Table& table, std::string_view what, std::string_view name) {
  std::string names;
  for (const auto& known : table) {
    if (known.name == name) return known;
    names += names.empty() ? "" : ", ";
    names += known.name;
  }
  fail(errc::usage, "a bucket sort has no {} '{}': it is one of {}", what, name, names);
}

}  // namespace

std::string_view name_of(bucket_exchange exchange) noexcept {
  for (const auto& known : bucket_exchanges)
    if (known.exchange == exchange) return known.name;
  return "?";
}

std::string_view name_of(exchange_order order) noexcept {
  for (const auto& known : exchange_orders)
    if (known.order == order) return known.name;
  return "?";
}

bucket_exchange bucket_exchange_of(std::string_view name) { return entry_of(bucket_exchanges, "exchange", name).exchange; }
exchange_order exchange_order_of(std::string_view name) { return entry_of(exchange_orders, "order", name).order; }

std::optional<std::string> why_not(bucket_exchange exchange, exchange_order order) {
  switch (exchange) {
    case bucket_exchange::put:
    case bucket_exchange::sendrecv: return std::nullopt;
    case bucket_exchange::alltoallv:
      if (order == exchange_order::round_robin) return std::nullopt;
      return fmt::format("order {} is without effect on exchange alltoallv, which is one call: it runs as round-robin",
                         name_of(order));
    case bucket_exchange::automatic: return "exchange auto is not implemented yet: use put or alltoallv";
    case bucket_exchange::rma:
    case bucket_exchange::channel: break;
  }
  return fmt::format("exchange {} is not implemented yet: use put, sendrecv or alltoallv", name_of(exchange));
}

}  // namespace longshore
