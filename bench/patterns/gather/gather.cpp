// Pattern gather: reads, writes or updates random elements of a distributed table.
#include "patterns/gather/operations.hpp"
#include "patterns/patterns.hpp"

namespace longshore::bench {
namespace {

std::vector<factor> factors() {
  constexpr long max_table = 1L << 48, max_buffer_items = 1L << 24, max_hops = 3;
  return {
      word_factor("operation", {"gather", "scatter", "histogram"}, "gather",
                  "gather reads the elements, scatter writes them, histogram increments them"),
      word_factor("strategy", names_in<gather_strategy>(), "auto",
                  "how requests reach the owner of an element"),
      integer_factor("requests", "10000000", "requests per rank"),
      integer_factor("table", "10000", "elements of the table per rank", 1, max_table),
      word_factor("distribution", {"cyclic", "block", "block-cyclic"}, "cyclic",
                  "distribution of the table over the ranks"),
      integer_factor("block-items", "",
                     "elements per block of distribution block-cyclic (default: 64)"),
      word_factor("index-pattern", {"uniform", "zipf"}, "",
                  "how often elements occur. uniform: equally often (default); zipf: the k-th "
                  "element 1/k times as often as the first"),
      word_factor("combine", {"no", "yes"}, "",
                  "combines requests of one buffer for the same element before they are sent "
                  "(default: no)"),
      integer_factor("buffer-items", "1024",
                     "items of the buffer to each destination, for aggregating strategies; 0: the "
                     "library chooses, 1024 or, between hosts, more",
                     0, max_buffer_items),
      integer_factor("hops", "",
                     "hops of an item with strategy conveyor (default: 2 with more than 128 ranks "
                     "on nodes of several ranks, else 1)",
                     1, max_hops),
  };
}

std::optional<std::string> why_not_here(const variant& levels, const launch_facts& facts) {
  const auto strategy = level_of<gather_strategy>(levels, "strategy");
  const bool all_reachable = facts.nodes == 1;
  if (levels.at("operation") == "scatter")
    return scatter_plan<std::int64_t, cyclic>::why_not(strategy, all_reachable);
  if (levels.at("operation") == "histogram")
    return update_plan<std::int64_t, cyclic>::why_not(strategy, all_reachable);
  return why_not(strategy, all_reachable);
}

template <class Distribution>
std::unique_ptr<measurement> make_with(team& ranks, const variant& levels,
                                       const launch_facts& facts) {
  gather_options options{.strategy = level_of<gather_strategy>(levels, "strategy"),
                         .combine = levels.contains("combine") && levels.at("combine") == "yes",
                         .expected_requests = levels.at("requests").get<std::size_t>()};
  if (levels.contains("hops")) options.hops = levels.at("hops").get<int>();
  if (levels.contains("buffer_items"))
    options.buffer_items = levels.at("buffer_items").get<std::size_t>();
  if (levels.at("operation") == "scatter")
    return std::make_unique<scatter_measurement<Distribution>>(ranks, levels, facts, options);
  if (levels.at("operation") == "histogram")
    return std::make_unique<histogram_measurement<Distribution>>(ranks, levels, facts, options);
  return std::make_unique<gather_measurement<Distribution>>(ranks, levels, facts, options);
}

std::unique_ptr<measurement> make(team& ranks, const variant& levels, const launch_facts& facts) {
  if (levels.at("distribution") == "block") return make_with<block>(ranks, levels, facts);
  if (levels.at("distribution") == "block-cyclic")
    return make_with<block_cyclic>(ranks, levels, facts);
  // The only other level is cyclic.
  return make_with<cyclic>(ranks, levels, facts);
}

// The bytes of the table, of the copies of elements that updates keep for each peer, and of
// buffers, with up to four slots per peer and direction. With many peers, buffers follow the number
// of requests: they are at most four times as large as the requests, or have some 64 items.
std::size_t needed_symmetric_bytes(const variant& levels, int ranks) {
  constexpr std::size_t item_bytes = 32, slots = 8;
  const auto peers = static_cast<std::size_t>(ranks);
  std::size_t max_items =
      levels.contains("buffer_items") ? levels.at("buffer_items").get<std::size_t>() : 4096;
  if (max_items == 0) max_items = 8192;
  const std::size_t buffer_items =
      peers * max_items * sizeof(std::int64_t) < (std::size_t{1} << 20)
          ? max_items
          : std::min(max_items, 64 + 4 * levels.at("requests").get<std::size_t>() / peers);
  return levels.at("table").get<std::size_t>() * sizeof(std::int64_t) * (1 + peers) +
         peers * slots * buffer_items * item_bytes;
}

// Removes factors without effect on the strategy.
void settle(variant& levels) {
  const auto strategy = level_of<gather_strategy>(levels, "strategy");
  // Strategy auto chooses the size of buffers.
  if (!aggregates(strategy) || strategy == gather_strategy::automatic) levels.erase("buffer_items");
  if (!aggregates(strategy)) levels.erase("combine");
  if (levels.at("distribution") != "block-cyclic") levels.erase("block_items");
  if (strategy != gather_strategy::conveyor) levels.erase("hops");
}

}  // namespace

pattern gather_pattern() {
  return {.name = "gather",
          .help = "random elements of a distributed table",
          .factors = factors(),
          .examples = {"longshore-bench gather --ranks 2 --strategy "
                       "agp,exstack,exstack2,conveyor,aggregator,direct",
                       "longshore-bench gather --ranks 2 --operation scatter,histogram "
                       "--index-pattern zipf --combine no,yes",
                       "mpirun -n 4 longshore-bench gather --strategy exstack --buffer-items "
                       "256,1024,4096 --distribution cyclic,block"},
          .why_not = why_not_here,
          .make = make,
          .settle = settle,
          .symmetric_bytes = needed_symmetric_bytes};
}

}  // namespace longshore::bench
