// The parameters of a variant of pattern sort: number and kind of keys, and options of the sorter.
#pragma once

#include <longshore/core/random.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/options.hpp>

#include "harness/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>

namespace longshore::bench {

/// The keys of this rank among the keys of all ranks.
struct key_share {
  std::size_t count;           ///< keys of this rank
  std::uint64_t first, total;  ///< the index of this rank's first key; keys of all ranks
};
[[nodiscard]] key_share key_share_of(const team& ranks, const variant& levels);

/// Keys are in [0, max_key).
[[nodiscard]] std::uint64_t max_key_of(const variant& levels, int ranks);

/// The largest max_key of a type, by name. Keys of floating types are from -max_key/2 to max_key/2.
[[nodiscard]] std::uint64_t largest_max_key(const std::string& key_type);

[[nodiscard]] bucket_options bucket_options_of(const variant& levels, const launch_facts& facts,
                                               std::uint64_t max_key, tasks& workers);

/// Collective. The bytes of this rank's items. Throws errc::out_of_memory on all ranks if a host
/// cannot hold the items of its ranks, their copy in bucket order and the received items.
[[nodiscard]] std::size_t checked_item_bytes(team& ranks, std::size_t items,
                                             std::size_t item_bytes);

using sort_maker = std::unique_ptr<measurement> (*)(team&, const variant&, const launch_facts&);
/// The function that makes the measurement for keys of a type without payload. Null if the type is
/// not built in (sort_keys.cpp).
[[nodiscard]] sort_maker sort_of_keys(const std::string& key_type);

/// Calls put(i, key) for the keys of this rank. Keys of pattern uniform are those of ISx. In
/// pattern zipf the probability of key k falls as 1 / (k + 1). Pattern sorted has ascending, evenly
/// spaced keys over all ranks. In pattern all-equal all keys are the middle of the range.
template <class Key, class Put>
void generate_keys(const std::string& pattern, const key_share& share, std::uint64_t max_key,
                   random_stream random, const Put& put) {
  const auto as_key = [=](std::uint64_t number) {
    if constexpr (std::is_floating_point_v<Key>)
      return static_cast<Key>(number) - static_cast<Key>(max_key / 2);
    return static_cast<Key>(number);
  };
  if (pattern == "uniform") {
    for (std::size_t i = 0; i < share.count; ++i) put(i, as_key(random.below(max_key)));
  } else if (pattern == "zipf") {
    // Inverts the distribution function of the density 1 / x on [1, max_key + 1).
    const double log_range = std::log1p(static_cast<double>(max_key));
    for (std::size_t i = 0; i < share.count; ++i)
      put(i, as_key(std::min(static_cast<std::uint64_t>(std::exp(random.uniform() * log_range)) - 1,
                             max_key - 1)));
  } else if (pattern == "all-equal") {
    for (std::size_t i = 0; i < share.count; ++i) put(i, as_key(max_key / 2));
  } else {  // "sorted". The product of an index and max_key may need more than 64 bits.
    __extension__ using uint128 = unsigned __int128;
    for (std::size_t i = 0; i < share.count; ++i)
      put(i, as_key(static_cast<std::uint64_t>(static_cast<uint128>(share.first + i) * max_key /
                                               share.total)));
  }
}

}  // namespace longshore::bench
