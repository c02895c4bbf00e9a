// Explains why a strategy cannot be used for an operation.
#include <longshore/gather/strategy.hpp>

#include <fmt/core.h>

#include <bit>

namespace longshore {

std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable) {
  if (strategy != gather_strategy::direct || all_reachable) return std::nullopt;
  return "strategy direct loads from the memory of every rank, but some ranks are on other nodes: "
         "use exstack or agp";
}

namespace detail {
namespace {

// Whether one instruction can store or update an element of this size.
bool is_word(std::size_t element_bytes) {
  return element_bytes <= 8 && std::has_single_bit(element_bytes);
}

}  // namespace

std::optional<std::string> why_not_scatter(gather_strategy strategy, bool all_reachable,
                                           std::size_t element_bytes) {
  if (strategy == gather_strategy::agp && !is_word(element_bytes))
    return fmt::format(
        "strategy agp can store elements of 1, 2, 4 and 8 bytes; an element of {} bytes could "
        "become a mixture of the values of two ranks: use exstack",
        element_bytes);
  return why_not(strategy, all_reachable);
}

std::optional<std::string> why_not_update(gather_strategy strategy, bool all_reachable,
                                          std::size_t element_bytes, bool has_fetch_add) {
  if (strategy == gather_strategy::agp && !is_word(element_bytes))
    return fmt::format(
        "strategy agp needs atomic operations, which exist for elements of 1, 2, 4 and 8 bytes, "
        "not of {}: use exstack",
        element_bytes);
  if (strategy == gather_strategy::agp && !all_reachable && !has_fetch_add)
    return "strategy agp needs an atomic operation of the transport for ranks on other nodes, and "
           "transports can only add 64-bit integers atomically: use exstack";
  return why_not(strategy, all_reachable);
}

}  // namespace detail
}  // namespace longshore
