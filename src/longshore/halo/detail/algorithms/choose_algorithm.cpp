#include <longshore/halo/detail/algorithms/choose_algorithm.hpp>

#include <algorithm>
#include <limits>

namespace longshore::detail {
namespace {

constexpr int rounds_of_trial = 7, exchanges_per_round = 4;
constexpr std::size_t most_fields_one_by_one = 32;  // each has one to three rounds of its own

// Memory with the extents and strides of a field, shareable if the field is.
struct scratch_field {
  scratch_field(const team& ranks, const field_memory& like) : field(like) {
    std::ptrdiff_t before = 0, after = static_cast<std::ptrdiff_t>(like.element_bytes);
    for (int d = 0; d < 3; ++d)
      for (const std::ptrdiff_t cell :
           {std::ptrdiff_t{-like.widths.low[d]},
            static_cast<std::ptrdiff_t>(like.extents[d]) - 1 + like.widths.high[d]}) {
        const std::ptrdiff_t bytes = cell * like.strides_bytes[d];
        (bytes < 0 ? before : after) += bytes;
      }
    const auto whole = static_cast<std::size_t>(after - before);
    std::byte* start = nullptr;
    if (like.memory.bytes > 0) {
      shared = shareable_memory(ranks, whole);
      start = shared.data();
      field.memory = shared.handle();
    } else {
      own = pages(whole);
      start = own.data();
    }
    field.first = start - before;
    std::fill_n(start, whole, std::byte{0});  // untouched pages would all be the same zero page
  }

  field_memory field;
  shareable_memory shared;
  pages own;
};

}  // namespace

halo_algorithm choose_algorithm(const rank_grid& grid, const halo_options& options,
                                const std::vector<field_memory>& fields) {
  team& ranks = grid.ranks();
  if (ranks.size() == 1 || grid.dimensions() == 1 || options.reach == halo_reach::faces)
    return halo_algorithm::standard;
  std::vector<halo_algorithm> candidates = {halo_algorithm::standard, halo_algorithm::staged};
  if (ranks.nodes().node_count() > 1 && ranks.nodes().largest_node() > 1)
    candidates.push_back(halo_algorithm::hybrid);
  // A small message of one field may still be in a cache when it is unpacked.
  if (fields.size() > 1 && fields.size() <= most_fields_one_by_one)
    candidates.insert(candidates.end(),
                      {halo_algorithm::sequenced, halo_algorithm::staged_sequenced});

  std::vector<scratch_field> like;
  std::vector<field_memory> memories;
  for (const auto& field : fields) memories.push_back(like.emplace_back(ranks, field).field);
  std::vector<std::unique_ptr<halo_exchange>> plans;
  for (const auto candidate : candidates) {
    halo_options fixed = options;
    fixed.algorithm = candidate;
    plans.push_back(std::make_unique<halo_exchange>(grid, fixed, memories));
    plans.back()->exchange();
  }
  std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
  for (int round = 0; round < rounds_of_trial; ++round) {
    std::vector<double> seconds;
    for (const auto& plan : plans) {
      ranks.barrier();
      const double began = ranks.now();
      for (int i = 0; i < exchanges_per_round; ++i) plan->exchange();
      seconds.push_back(ranks.now() - began);
    }
    ranks.allreduce(std::span<double>(seconds), reduction::max);
    for (std::size_t i = 0; i < seconds.size(); ++i) least[i] = std::min(least[i], seconds[i]);
  }
  return candidates[static_cast<std::size_t>(std::min_element(least.begin(), least.end()) -
                                             least.begin())];
}

}  // namespace longshore::detail
