// Gathers the samples of all ranks, and takes as splitters the samples that divide all items into
// about equal shares, one per rank.
#include <longshore/sort/detail/splitters.hpp>

#include <algorithm>

namespace longshore::detail {

std::vector<item_position> choose_splitters(team& team, std::vector<item_position> samples,
                                            std::size_t items) {
  const std::size_t per_rank = samples.size(), ranks = static_cast<std::size_t>(team.size());
  const auto items_of = team.allgather_value(items);
  std::vector<item_position> all_samples(per_rank * ranks);
  team.allgather(std::as_bytes(std::span(samples)), std::as_writable_bytes(std::span(all_samples)));

  double total = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) total += static_cast<double>(items_of[rank]);
  if (total == 0) return std::vector<item_position>(ranks - 1, {0, 0, 0});
  std::erase_if(all_samples,
                [&](const item_position& sample) { return items_of[sample.rank] == 0; });
  std::sort(all_samples.begin(), all_samples.end());

  // A sample represents (items / samples) items of its rank; half of them are below the sample. One
  // sample may be several splitters.
  std::vector<item_position> splitters;
  double below = 0;
  for (const auto& sample : all_samples) {
    const double represents =
        static_cast<double>(items_of[sample.rank]) / static_cast<double>(per_rank);
    while (splitters.size() + 1 < ranks &&
           below + represents / 2 >=
               total * static_cast<double>(splitters.size() + 1) / static_cast<double>(ranks))
      splitters.push_back(sample);
    below += represents;
  }
  splitters.resize(ranks - 1, all_samples.back());
  return splitters;
}

std::vector<std::size_t> section_ends(std::span<const item_position> splitters, int rank,
                                      std::size_t items) {
  std::vector<std::size_t> ends;
  for (const auto& splitter : splitters)
    if (splitter.rank == rank && splitter.position > 0 && splitter.position < items)
      ends.push_back(splitter.position);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  ends.push_back(items);
  return ends;
}

}  // namespace longshore::detail
