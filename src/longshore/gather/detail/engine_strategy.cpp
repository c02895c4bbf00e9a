#include <longshore/gather/detail/engine_strategy.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {
namespace {

constexpr int max_links_of_one_hop = 128;

}  // namespace

engine_options engine_options_for(const team& team, gather_strategy strategy,
                                  const gather_options& given) {
  engine_options options{.buffer_items = given.buffer_items};
  if (strategy == gather_strategy::conveyor) {
    // A second hop costs a copy per item. It pays if there are so many links that buffers on one
    // hop do not fill.
    const bool shared_nodes = team.nodes().node_count() > 1 && team.nodes().largest_node() > 1;
    const bool many_links = team.size() > max_links_of_one_hop;
    options.hops = given.hops != 0 ? given.hops : shared_nodes && many_links ? 2 : 1;
  }
  if (strategy == gather_strategy::aggregator) {
    options.hops = 3;
    options.one_stream = true;
  }
  return options;
}

void throw_peer_failed(const char* operation, const team& team, int failed_rank) {
  fail(errc::peer_failed,
       "{} on rank {} was not completed: rank {} gave an index out of range or arrays of different "
       "sizes",
       operation, team.rank(), failed_rank);
}

}  // namespace longshore::detail
