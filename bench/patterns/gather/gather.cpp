// Pattern gather: reads, writes or updates random elements of a distributed table.
#include "patterns/gather/gather_measurements.hpp"
#include "patterns/patterns.hpp"

namespace longshore::bench {
namespace {

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const auto& known : gather_strategies) names.emplace_back(known.name);
  return names;
}

std::vector<factor> factors() {
  using enum factor::kind;
  return {
      {.name = "operation",
       .allowed = {"gather", "scatter", "histogram"},
       .defaults = {"gather"},
       .help = "gather reads the elements, scatter writes them, histogram increments them"},
      {.name = "strategy",
       .allowed = strategy_names(),
       .defaults = {"auto"},
       .help = "how requests reach the owner of an element"},
      {.name = "requests",
       .type = integer,
       .defaults = {"10000000"},
       .help = "per rank",
       .low = 1,
       .high = 1L << 40},
      {.name = "table",
       .type = integer,
       .defaults = {"10000"},
       .help = "elements per rank",
       .low = 1,
       .high = 1L << 48},
      {.name = "distribution",
       .allowed = {"cyclic", "block", "block-cyclic"},
       .defaults = {"cyclic"},
       .help = "of the table over the ranks"},
      {.name = "block-items",
       .type = integer,
       .defaults = {},
       .help = "elements per block of distribution block-cyclic (default: 64)",
       .low = 1,
       .high = 1L << 40},
      {.name = "index-pattern",
       .allowed = {"uniform", "zipf"},
       .defaults = {},
       .help = "frequency of elements: equal (default), or zipf: the k-th 1/k times as often as "
               "the first"},
      {.name = "combine",
       .allowed = {"no", "yes"},
       .defaults = {},
       .help = "combines requests of one buffer for the same element before they are sent "
               "(default: no)"},
      {.name = "buffer-items",
       .type = integer,
       .defaults = {"1024"},
       .help = "per destination, for aggregating strategies",
       .low = 1,
       .high = 1L << 24},
      {.name = "hops",
       .type = integer,
       .defaults = {},
       .help =
           "of strategy conveyor (default: 2 for more than 128 ranks on nodes of several, else 1)",
       .low = 1,
       .high = 3},
  };
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts& facts) {
  const auto strategy = gather_strategy_of(what.at("strategy").get<std::string>());
  const bool all_reachable = facts.nodes == 1;
  if (what.at("operation") == "scatter")
    return scatter_plan<std::int64_t, cyclic>::why_not(strategy, all_reachable);
  if (what.at("operation") == "histogram")
    return update_plan<std::int64_t, cyclic>::why_not(strategy, all_reachable);
  return why_not(strategy, all_reachable);
}

template <class Distribution>
std::unique_ptr<measurement> make_with(team& ranks, const variant& what,
                                       const launch_facts& facts) {
  gather_options options{.strategy = gather_strategy_of(what.at("strategy").get<std::string>()),
                         .combine = what.contains("combine") && what.at("combine") == "yes",
                         .expected_requests = what.at("requests").get<std::size_t>()};
  if (what.contains("hops")) options.hops = what.at("hops").get<int>();
  if (what.contains("buffer_items"))
    options.buffer_items = what.at("buffer_items").get<std::size_t>();
  if (what.at("operation") == "scatter")
    return std::make_unique<scatter_measurement<Distribution>>(ranks, what, facts, options);
  if (what.at("operation") == "histogram")
    return std::make_unique<histogram_measurement<Distribution>>(ranks, what, facts, options);
  return std::make_unique<gather_measurement<Distribution>>(ranks, what, facts, options);
}

std::unique_ptr<measurement> make(team& ranks, const variant& what, const launch_facts& facts) {
  if (what.at("distribution") == "block") return make_with<block>(ranks, what, facts);
  if (what.at("distribution") == "block-cyclic") return make_with<block_cyclic>(ranks, what, facts);
  return make_with<cyclic>(ranks, what, facts);
}

// The table, the copies of elements that update keeps, and a buffer in each direction per peer in
// up to four slots.
std::size_t needed_symmetric_bytes(const variant& what, int ranks) {
  constexpr std::size_t item_bytes = 32, slots = 8;
  const auto peers = static_cast<std::size_t>(ranks);
  const std::size_t buffer_items =
      what.contains("buffer_items") ? what.at("buffer_items").get<std::size_t>() : 4096;
  return what.at("table").get<std::size_t>() * sizeof(std::int64_t) * (1 + peers) +
         peers * slots * buffer_items * item_bytes;
}

// Removes factors without effect on the strategy.
void settle(variant& what) {
  const auto strategy = gather_strategy_of(what.at("strategy").get<std::string>());
  // Auto chooses them
  if (!aggregates(strategy) || strategy == gather_strategy::automatic) what.erase("buffer_items");
  if (!aggregates(strategy)) what.erase("combine");
  if (what.at("distribution") != "block-cyclic") what.erase("block_items");
  if (strategy != gather_strategy::conveyor) what.erase("hops");
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
