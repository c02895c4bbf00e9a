#include <longshore/gather/detail/engine_choice.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {
namespace {

constexpr int most_links_of_one_hop = 128;

}  // namespace

engine_options engine_options_of(const team& team, gather_strategy strategy,
                                 const gather_options& asked) {
  engine_options options{.buffer_items = asked.buffer_items};
  if (strategy == gather_strategy::conveyor) {
    // A further hop costs every item a copy: it pays once there are more links than buffers can be
    // filled on.
    const bool shared_nodes = team.nodes().node_count() > 1 && team.nodes().largest_node() > 1;
    const bool many_links = team.size() > most_links_of_one_hop;
    options.hops = asked.hops != 0 ? asked.hops : shared_nodes && many_links ? 2 : 1;
  }
  if (strategy == gather_strategy::aggregator) {
    options.hops = 3;
    options.one_stream = true;
  }
  return options;
}

void give_up(const char* operation, const team& team, int failed_rank) {
  fail(errc::peer_failed,
       "{} on rank {} was given up: rank {} has indices or values that cannot be used", operation,
       team.rank(), failed_rank);
}

}  // namespace longshore::detail
