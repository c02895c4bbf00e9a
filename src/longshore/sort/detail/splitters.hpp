// Splitters are the ends of buckets with about equally many items, for any distribution of keys.
// Splitters are chosen from a sample, as in sample sort (W. D. Frazer, A. C. McKellar, JACM 1970).
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/random.hpp>
#include <longshore/sort/detail/bucket_ranges.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Where an item stands in the order of all items: by radix key, then rank, then position on its
/// rank, as in a stable sort. Items with equal keys have an order too, so a splitter can lie
/// between them.
struct item_position {
  std::uint64_t radix_key;
  std::uint64_t position;
  int rank;
  friend auto operator<=>(const item_position& a, const item_position& b) noexcept {
    if (a.radix_key != b.radix_key) return a.radix_key <=> b.radix_key;
    if (a.rank != b.rank) return a.rank <=> b.rank;
    return a.position <=> b.position;
  }
  friend bool operator==(const item_position&, const item_position&) noexcept = default;
};

/// The number of samples of each rank, fewer in large teams. With n items on P ranks, the sizes of
/// buckets vary by some n / (P sqrt(samples per rank)) items.
[[nodiscard]] constexpr std::size_t samples_per_rank(int ranks) noexcept {
  return ranks <= 64 ? 1024 : 256;
}

/// Collective. Returns P - 1 ascending splitters for P ranks, the same on all ranks. Bucket b holds
/// the items from splitter b - 1 on that are below splitter b. `samples` are drawn from the `items`
/// items of this rank. All ranks give the same number of samples. The samples of a rank without
/// items are ignored. Cost: an allgather of 24 bytes per sample, and memory for its result.
[[nodiscard]] std::vector<item_position> choose_splitters(team& team,
                                                          std::vector<item_position> samples,
                                                          std::size_t items);

/// Divides `items` into samples_per_rank(ranks) equal parts and draws a random item of each part.
template <class Item, class RadixKeyOf>
[[nodiscard]] std::vector<item_position> draw_samples(std::span<const Item> items,
                                                      const RadixKeyOf& radix_key_of, int rank,
                                                      int ranks, std::uint64_t seed) {
  std::vector<item_position> samples(samples_per_rank(ranks), {0, 0, rank});
  if (items.empty()) return samples;
  random_stream random(seed, static_cast<std::uint64_t>(rank));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const double fraction =
        (static_cast<double>(k) + random.uniform()) / static_cast<double>(samples.size());
    const std::size_t position = smaller(
        items.size() - 1, static_cast<std::size_t>(fraction * static_cast<double>(items.size())));
    samples[k] = {radix_key_of(items[position]), position, rank};
  }
  return samples;
}

/// The positions, ascending, at which the sections of one rank's items end: each splitter that is an
/// item of this rank, and the end of the items.
[[nodiscard]] std::vector<std::size_t> section_ends(std::span<const item_position> splitters,
                                                    int rank, std::size_t items);

/// The bucket ranges for the items of one rank, section by section. A section ends at each splitter
/// that is an item of this rank. If `together`, equal keys go to one rank, and there is one
/// section.
template <class RadixKey>
[[nodiscard]] std::vector<section_ranges<RadixKey>> ranges_at_splitters(
    std::span<const item_position> splitters, int rank, std::size_t items, bool together,
    RadixKey lowest, RadixKey highest) {
  std::vector<section_ranges<RadixKey>> sections;
  std::size_t begin = 0;
  const auto ends = together ? std::vector{items} : section_ends(splitters, rank, items);
  for (const std::size_t end : ends) {
    std::vector<RadixKey> last;
    std::size_t empty_buckets = 0;
    for (const auto& splitter : splitters) {
      // Whether items of this section with the splitter's key are below the splitter.
      const bool equal_below = !together && (rank < splitter.rank ||
                                             (rank == splitter.rank && begin < splitter.position));
      // No key is below 0, so the bucket is empty, and radix_key - 1 does not exist.
      if (splitter.radix_key == 0 && !equal_below)
        ++empty_buckets;
      else
        last.push_back(
            static_cast<RadixKey>(equal_below ? splitter.radix_key : splitter.radix_key - 1));
    }
    sections.push_back(
        {end, bucket_ranges<RadixKey>::ending_at(lowest, highest, std::move(last), empty_buckets)});
    begin = end;
  }
  return sections;
}

/// The radix keys that a bucket may receive from any rank.
template <class RadixKey>
[[nodiscard]] typename bucket_ranges<RadixKey>::key_range range_of_bucket(
    std::span<const item_position> splitters, std::size_t bucket, RadixKey lowest,
    RadixKey highest) {
  const RadixKey from =
      bucket == 0
          ? lowest
          : clamped(static_cast<RadixKey>(splitters[bucket - 1].radix_key), lowest, highest);
  const RadixKey to =
      bucket == splitters.size()
          ? highest
          : clamped(static_cast<RadixKey>(splitters[bucket].radix_key), lowest, highest);
  return {from, larger(from, to)};
}

}  // namespace longshore::detail
