#include <longshore/core/error.hpp>
#include <longshore/gather/engine_choice.hpp>
#include <longshore/gather/index_range.hpp>

#include <limits>

namespace longshore::gathering {
namespace {

constexpr int nobody = std::numeric_limits<int>::max();

int lowest_refusing_rank(team& team, bool refuses) {
  return team.allreduce_value(refuses ? team.rank() : nobody, reduction::min);
}

}  // namespace

engine_options engine_options_of(const team& team, gather_strategy strategy, const gather_options& asked) {
  engine_options options{.buffer_items = asked.buffer_items};
  if (strategy == gather_strategy::conveyor) {
    const bool shared_nodes = team.nodes().node_count() > 1 && team.nodes().largest_node() > 1;
    options.hops = asked.hops != 0 ? asked.hops : shared_nodes ? 2 : 1;
  }
  if (strategy == gather_strategy::aggregator) {
    options.hops = 3;
    options.one_stream = true;
  }
  return options;
}

void agree_on_indices(team& team, const char* operation, std::span<const std::int64_t> indices, std::uint64_t size) {
  const std::size_t good = for_each_in_range(indices, size, [](std::size_t, std::uint64_t) {});
  const int refusing = lowest_refusing_rank(team, good < indices.size());
  if (good < indices.size()) refuse_indices(operation, indices, size, team.rank());
  if (refusing != nobody)
    fail(errc::peer_failed, "{} on rank {} was given up: rank {} has indices or values that cannot be used", operation,
         team.rank(), refusing);
}

void refuse_to_agree(team& team) { (void)lowest_refusing_rank(team, true); }

}  // namespace longshore::gathering
