// Splitters: where the buckets end when each shall hold as many items as the others, whatever the
// keys are. Found from a sample, as in sample sort (W. D. Frazer, A. C. McKellar, JACM 1970).
#pragma once

#include <longshore/core/random.hpp>
#include <longshore/sort/detail/bucket_cut.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// An item as the whole run sees it: items are ordered by image, then rank, then position, which is
/// the order that a stable sort gives them. So equal keys have an order too, and can be cut.
struct item_place {
  std::uint64_t image;
  std::uint64_t position;
  int rank;
  friend auto operator<=>(const item_place& a, const item_place& b) noexcept {
    if (a.image != b.image) return a.image <=> b.image;
    if (a.rank != b.rank) return a.rank <=> b.rank;
    return a.position <=> b.position;
  }
  friend bool operator==(const item_place&, const item_place&) noexcept = default;
};

/// How many items of each rank are drawn: 1024, fewer in large teams. Bucket sizes vary by some n /
/// (P sqrt(samples)) items.
[[nodiscard]] constexpr std::size_t samples_of_rank(int ranks) noexcept {
  return ranks <= 64 ? 1024 : 256;
}

/// Collective. One splitter less than there are ranks, ascending, the same on all ranks: bucket b
/// is to hold what is below splitter b. `samples`: those of this rank, as many on all, which stand
/// for its `items` (samples of a rank without items are not looked at). Cost: an allgather of 24
/// bytes per sample, and as much memory.
[[nodiscard]] std::vector<item_place> choose_splitters(team& team, std::vector<item_place> samples,
                                                       std::size_t items);

/// One item of each of samples_of_rank(ranks) equal stretches of `items`, at random.
template <class Item, class ImageOf>
[[nodiscard]] std::vector<item_place> draw_samples(std::span<const Item> items,
                                                   const ImageOf& image_of, int rank, int ranks,
                                                   std::uint64_t seed) {
  std::vector<item_place> samples(samples_of_rank(ranks), {0, 0, rank});
  if (items.empty()) return samples;
  random_stream random(seed, static_cast<std::uint64_t>(rank));
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const double at =
        (static_cast<double>(k) + random.uniform()) / static_cast<double>(samples.size());
    const std::size_t position = std::min(
        items.size() - 1, static_cast<std::size_t>(at * static_cast<double>(items.size())));
    samples[k] = {image_of(items[position]), position, rank};
  }
  return samples;
}

/// What the splitters mean for the items of one rank, stretch by stretch. `together`: equal keys
/// stay on one rank, and the places of splitters among them are not looked at.
template <class Image>
[[nodiscard]] std::vector<cut_stretch<Image>> cut_at(std::span<const item_place> splitters,
                                                     int rank, std::size_t items, bool together,
                                                     Image lowest, Image highest) {
  std::vector<std::size_t> ends;  // of stretches: this rank's own splitters
  if (!together)
    for (const auto& one : splitters)
      if (one.rank == rank && one.position > 0 && one.position < items)
        ends.push_back(one.position);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  ends.push_back(items);
  std::vector<cut_stretch<Image>> stretches;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::vector<Image> last;
    std::size_t empty = 0;
    for (const auto& one : splitters) {
      // Of the items of this stretch with the splitter's key: are they below it?
      const bool equal_below =
          !together && (rank < one.rank || (rank == one.rank && begin < one.position));
      if (one.image == 0 && !equal_below)
        ++empty;
      else
        last.push_back(static_cast<Image>(equal_below ? one.image : one.image - 1));
    }
    stretches.push_back({end, bucket_cut<Image>::at(lowest, highest, std::move(last), empty)});
    begin = end;
  }
  return stretches;
}

/// The images that may come to a rank from any rank.
template <class Image>
[[nodiscard]] typename bucket_cut<Image>::range range_between(std::span<const item_place> splitters,
                                                              std::size_t bucket, Image lowest,
                                                              Image highest) {
  const Image from =
      bucket == 0 ? lowest
                  : std::clamp(static_cast<Image>(splitters[bucket - 1].image), lowest, highest);
  const Image to = bucket == splitters.size()
                       ? highest
                       : std::clamp(static_cast<Image>(splitters[bucket].image), lowest, highest);
  return {from, std::max(from, to)};
}

}  // namespace longshore::detail
