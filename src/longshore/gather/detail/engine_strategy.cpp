// Translates an asynchronous strategy of gather, scatter and updates into the options of its
// engine: the number of hops and of streams. Also throws the errors of calls.
#include <longshore/gather/detail/engine_strategy.hpp>

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/core/error.hpp>

#include <cassert>
#include <cstdint>

namespace longshore::detail {
namespace {

// Buffers per link of an engine of several hops, with few ranks. A link carries the items of
// several ranks, so more buffers save waits (measured with 4 ranks on 2 cores: a gather by
// aggregator takes half to two thirds of the time that it takes with 2 buffers). With more ranks
// there are more links, and 2 buffers for each suffice.
constexpr int max_ranks_of_more_slots = 16;
constexpr int slots_of_several_hops = 8;

// The default of gather_options::hops. Strategy auto measures several numbers of hops instead.
int default_hops(const team& team) {
  // With one hop a rank has a link, and so a buffer, to every rank. With very many links the
  // buffers are sent before they are full. A second hop makes fewer links, but copies every item
  // once more. The second hop is worthwhile only where an aggregator has hops: between nodes of
  // several ranks, so that the first hop stays in the memory of the node.
  return aggregator::hops_on(team.nodes()) > 1 ? 2 : 1;
}

}  // namespace

engine_options engine_options_for(const team& team, const gather_options& given) {
  assert(is_asynchronous(given.strategy));
  engine_options options{.buffer_items = given.buffer_items, .hops = 1};
  if (given.strategy == gather_strategy::conveyor)
    options.hops = given.hops != 0 ? given.hops : default_hops(team);
  if (given.strategy == gather_strategy::aggregator) {
    options.hops = aggregator::hops_on(team.nodes());
    options.one_stream = true;
  }
  if (options.hops > 1 && team.size() <= max_ranks_of_more_slots)
    options.slots = slots_of_several_hops;
  return options;
}

std::size_t default_buffer_items(const node_map& nodes, gather_strategy strategy,
                                 std::size_t element_bytes) noexcept {
  constexpr std::size_t items_on_host = 1024, items_between_hosts = 8192;
  if (nodes.most_ranks_off_host() == 0) return items_on_host;
  // Each round of exstack waits for the delay of the network. Asynchronous strategies do not wait.
  std::size_t items = is_asynchronous(strategy) ? items_between_hosts : 4 * items_between_hosts;
  // exstack has the most buffers: two for each rank and direction, of offsets and elements.
  constexpr std::size_t max_bytes = std::size_t{16} << 20, buffers_per_rank = 4;
  const std::size_t message_bytes_per_item = sizeof(std::uint32_t) + element_bytes;
  const std::size_t bytes_per_item =
      message_bytes_per_item * buffers_per_rank * static_cast<std::size_t>(nodes.rank_count());
  // Longer messages than this are transferred no faster.
  constexpr std::size_t max_message_bytes = std::size_t{512} << 10;
  while (items > items_on_host &&
         (items * bytes_per_item > max_bytes || items * message_bytes_per_item > max_message_bytes))
    items /= 2;
  return items;
}

void throw_size_error(const char* operation, const team& team, std::size_t indices,
                      std::size_t values, const char* role) {
  fail(errc::usage, "{} on rank {}: {} indices, but {}{} values: give as many of both", operation,
       team.rank(), indices, role, values);
}

void throw_peer_failed(const char* operation, const team& team, int failed_rank) {
  fail(errc::peer_failed,
       "{} on rank {} was not completed: rank {} gave an index out of range or arrays of different "
       "sizes",
       operation, team.rank(), failed_rank);
}

}  // namespace longshore::detail
