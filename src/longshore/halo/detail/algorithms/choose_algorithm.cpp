// Chooses for algorithm auto: makes a plan of each candidate algorithm on scratch memory, times the
// plans by turns, and returns the fastest. The constructor of halo_exchange calls it.
#include <longshore/halo/detail/algorithms/choose_algorithm.hpp>

#include <algorithm>
#include <limits>

namespace longshore::detail {
namespace {

constexpr int trials = 7, exchanges_per_trial = 4;
// With more fields, auto does not try the sequenced algorithms, which have one to three rounds for
// each field.
constexpr std::size_t max_sequenced_fields = 32;

// Memory with the extents and strides of a field. The memory is shareable if the field is.
struct scratch_field {
  scratch_field(const team& ranks, const field_memory& like) : field(like) {
    // The bytes of all cells, relative to the first interior cell. Strides may be negative.
    std::ptrdiff_t begin = 0, end = static_cast<std::ptrdiff_t>(like.element_bytes);
    for (int d = 0; d < 3; ++d)
      for (const std::ptrdiff_t cell :
           {std::ptrdiff_t{-like.widths.low[d]},
            static_cast<std::ptrdiff_t>(like.extents[d]) - 1 + like.widths.high[d]}) {
        const std::ptrdiff_t bytes = cell * like.strides_bytes[d];
        (bytes < 0 ? begin : end) += bytes;
      }
    const auto size_bytes = static_cast<std::size_t>(end - begin);
    std::byte* data = nullptr;
    if (like.memory.bytes > 0) {
      shareable = shareable_memory(ranks, size_bytes);
      data = shareable.data();
      field.memory = shareable.handle();
    } else {
      plain = pages(size_bytes);
      data = plain.data();
    }
    field.first = data - begin;
    // The system maps all pages that were never written to the same page of zeros. Writing gives
    // the scratch memory pages of its own, as a field has.
    std::fill_n(data, size_bytes, std::byte{0});
  }

  field_memory field;
  shareable_memory shareable;
  pages plain;
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
  if (fields.size() > 1 && fields.size() <= max_sequenced_fields)
    candidates.insert(candidates.end(),
                      {halo_algorithm::sequenced, halo_algorithm::staged_sequenced});

  // Memory keeps its address when the vector grows and moves its elements.
  std::vector<scratch_field> scratch_fields;
  std::vector<field_memory> memories;
  for (const auto& field : fields)
    memories.push_back(scratch_fields.emplace_back(ranks, field).field);
  std::vector<std::unique_ptr<halo_exchange>> plans;
  for (const auto candidate : candidates) {
    halo_options candidate_options = options;
    candidate_options.algorithm = candidate;
    plans.push_back(std::make_unique<halo_exchange>(grid, candidate_options, memories));
    plans.back()->exchange();  // the first exchange is not timed
  }
  std::vector<double> shortest(candidates.size(), std::numeric_limits<double>::infinity());
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> seconds;
    for (const auto& plan : plans) {
      ranks.barrier();
      const double began = ranks.now();
      for (int i = 0; i < exchanges_per_trial; ++i) plan->exchange();
      seconds.push_back(ranks.now() - began);
    }
    ranks.allreduce(std::span<double>(seconds), reduction::max);
    for (std::size_t i = 0; i < seconds.size(); ++i)
      shortest[i] = std::min(shortest[i], seconds[i]);
  }
  return candidates[static_cast<std::size_t>(std::min_element(shortest.begin(), shortest.end()) -
                                             shortest.begin())];
}

}  // namespace longshore::detail
