// Compares a value of all ranks.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstdint>
#include <cstring>

namespace longshore::detail {

/// Collective: one allreduce of two copies of `value`. Returns whether all ranks pass equal bytes.
template <trivially_copyable T>
[[nodiscard]] bool is_same_on_all_ranks(team& ranks, const T& value) {
  // The minimum of the complements is the complement of the maximum.
  constexpr std::size_t words = (sizeof(T) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
  std::array<std::int64_t, 2 * words> mine{};
  std::memcpy(mine.data(), &value, sizeof(T));
  for (std::size_t w = 0; w < words; ++w) mine[words + w] = ~mine[w];
  auto minima = mine;
  ranks.allreduce(minima, reduction::min);
  return minima == mine;
}

}  // namespace longshore::detail
