// Chooses the algorithm for `automatic`. Makes a plan of each candidate on scratch memory, times
// the plans by turns, and returns the fastest algorithm.
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>

#include <longshore/transport/detail/fastest_by_turns.hpp>
#include <longshore/transport/detail/scratch_memory.hpp>

#include <optional>

namespace longshore::detail {
namespace {

constexpr int exchanges_per_trial = 4;
// With more fields, the sequenced algorithms are not tried, because each field needs one to three
// rounds.
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
    const bool is_shareable = like.memory.bytes > 0;
    memory.emplace(ranks, static_cast<std::size_t>(end - begin), is_shareable);
    if (is_shareable) field.memory = memory->handle();
    field.first = memory->data() - begin;
  }

  field_memory field;
  std::optional<scratch_memory> memory;
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
  // Sequenced algorithms may gain, because a small message may be in a cache when it is unpacked.
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
  return candidates[fastest_by_turns(ranks, candidates.size(), [&](std::size_t i) {
    for (int exchange = 0; exchange < exchanges_per_trial; ++exchange) plans[i]->exchange();
  })];
}

}  // namespace longshore::detail
