// Sums of integers over the ranks that never wrap around: team::allreduce wraps, as MPI does.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace longshore {

/// Collective. Replaces values[i] by its sum over the ranks, for each i. If a sum does not fit T, all
/// ranks throw errc::usage, and no value has changed. Cost: one allreduce of 16 bytes per value, in
/// which the upper and the lower 32 bits are summed apart.
template <std::integral T>
void sum_exactly(team& ranks, std::span<T> values) {
  constexpr bool is_wide = sizeof(T) == sizeof(std::uint64_t);
  constexpr int low_bits = is_wide ? 32 : 0;
  constexpr std::uint64_t low_mask = is_wide ? 0xffffffff : 0;
  using half = std::conditional_t<std::signed_integral<T>, std::int32_t, std::uint32_t>;
  using upper = std::conditional_t<is_wide, half, T>;
  struct parts {
    std::int64_t high, low;
  };
  static_assert(sizeof(parts) == 2 * sizeof(std::int64_t));
  std::vector<parts> sums;
  sums.reserve(values.size());
  for (const T value : values)
    sums.push_back({static_cast<std::int64_t>(value >> low_bits),
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(value) & low_mask)});
  ranks.allreduce(std::span(reinterpret_cast<std::int64_t*>(sums.data()), 2 * sums.size()),
                  reduction::sum);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].high += sums[i].low >> 32;
    if (!std::in_range<upper>(sums[i].high))
      fail(
          errc::usage,
          "allreduce: the sum of value {} over the ranks does not fit {} bits{}: use a wider type, "
          "or float64",
          i, 8 * sizeof(T), std::signed_integral<T> ? "" : " without a sign");
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    values[i] = static_cast<T>(static_cast<std::uint64_t>(sums[i].high) << low_bits |
                               (static_cast<std::uint64_t>(sums[i].low) & low_mask));
}

}  // namespace longshore
