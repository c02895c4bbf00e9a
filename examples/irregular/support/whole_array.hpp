// Collects distributed data on rank 0, where a serial run verifies it. Inputs must therefore fit
// into the memory of one rank.
#pragma once

#include <longshore/array/dist_array.hpp>

#include <span>
#include <vector>

namespace examples {

/// Collective. Returns the elements of all ranks in rank order on rank 0, and nothing elsewhere.
template <class T>
[[nodiscard]] std::vector<T> collected_on_rank_0(longshore::team& team, std::span<const T> mine) {
  const auto counts = team.allgather_value(mine.size());
  std::vector<std::size_t> outgoing(counts.size()), incoming(counts.size());
  outgoing[0] = mine.size();
  std::size_t all_items = 0;
  if (team.rank() == 0) {
    incoming = counts;
    for (const std::size_t count : counts) all_items += count;
  }
  std::vector<T> all(all_items);
  team.alltoallv(std::as_bytes(mine).data(), outgoing,
                 std::as_writable_bytes(std::span(all)).data(), incoming, sizeof(T));
  return all;
}

/// Collective. Returns all elements in the order of their indices on rank 0, and nothing elsewhere.
template <class T, class Distribution>
[[nodiscard]] std::vector<T> whole_on_rank_0(const longshore::dist_array<T, Distribution>& array) {
  const std::vector<T> parts = collected_on_rank_0(array.team(), array.local());
  std::vector<T> whole(parts.size());
  for (std::size_t next = 0, rank = 0; next < parts.size(); ++rank)
    for (std::size_t offset = 0; offset < array.map().local_size(static_cast<int>(rank)); ++offset)
      whole[array.map().index_of(static_cast<int>(rank), offset)] = parts[next++];
  return whole;
}

}  // namespace examples
