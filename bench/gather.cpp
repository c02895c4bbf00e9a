// Pattern gather: random elements of a distributed table, as bale's index-gather has it: the value of element i is -(i + 1),
// so that every answer can be checked.
#include "benchmark.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/machine/pages.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace longshore::bench {
namespace {

constexpr std::int64_t value_of(std::int64_t index) { return -(index + 1); }

// Never a value of the table.
constexpr std::int64_t no_value = 1;
// Elements between those that are wiped before a repetition: some of every page, so that no old answer passes for a new one,
// and few, so that the caches stay as they were.
constexpr std::size_t wiped_stride = 509;

// Indices and answers of all ranks of the machine together, before any of them is written: the kernel hands out more than
// there is.
std::size_t checked_bytes(team& ranks, std::size_t requests) {
  const auto sharing = static_cast<std::size_t>(ranks.nodes().is_virtual() ? ranks.size() : ranks.nodes().my_rank_count());
  const auto available = static_cast<std::size_t>(
      ranks.allreduce_value(static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)), reduction::min));
  constexpr std::size_t bytes_per_request = 2 * sizeof(std::int64_t);
  if (requests > available / bytes_per_request / sharing)
    fail(errc::out_of_memory, "indices and answers of {} requests on each of {} ranks do not fit into the {} bytes available",
         requests, sharing, available);
  return requests * sizeof(std::int64_t);
}

template <class Distribution>
class gather_measurement final : public measurement {
 public:
  gather_measurement(team& ranks, const variant& what, const launch_facts& facts, gather_options options)
      : team_(ranks),
        requests_(what.at("requests").get<std::size_t>()),
        table_(ranks, elements_of(ranks, what.at("table").get<std::uint64_t>())),
        indices_memory_(checked_bytes(ranks, requests_), true),
        answers_memory_(requests_ * sizeof(std::int64_t), true),
        plan_(table_, options) {
    const auto part = table_.local();
    for (std::size_t k = 0; k < part.size(); ++k)
      part[k] = value_of(static_cast<std::int64_t>(table_.map().index_of(team_.rank(), k)));
    random_stream random(facts.seed, static_cast<std::uint64_t>(team_.rank()));
    for (auto& index : indices()) index = static_cast<std::int64_t>(random.below(table_.size()));
    std::fill(answers().begin(), answers().end(), no_value);
    team_.barrier();
  }

  void reset() override {
    for (std::size_t i = wiped_++ % wiped_stride; i < requests_; i += wiped_stride) answers()[i] = no_value;
  }
  void run() override { plan_(indices(), answers()); }
  [[nodiscard]] bool verify() override {
    for (std::size_t i = 0; i < requests_; ++i) {
      if (answers()[i] == value_of(indices()[i])) continue;
      fmt::print(stderr, "longshore-bench: gather: rank {}: request {} for element {} was answered with {}, not {}\n",
                 team_.rank(), i, indices()[i], answers()[i], value_of(indices()[i]));
      return false;
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return plan_.moved(); }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    // An index out and a value back.
    constexpr std::size_t bytes_per_request = 2 * sizeof(std::int64_t);
    const double node_bytes = static_cast<double>(requests_ * bytes_per_request) * team_.size() / team_.nodes().node_count();
    return {{"injection_bandwidth", 1e-9 * node_bytes / seconds.median, "GB/s"},
            {"mean_injection_bandwidth", 1e-9 * node_bytes / seconds.mean_over_ranks_median, "GB/s"}};
  }

 private:
  static std::uint64_t elements_of(const team& ranks, std::uint64_t per_rank) {
    if (per_rank > most_elements / static_cast<std::uint64_t>(ranks.size()))
      fail(errc::out_of_memory, "a table of {} elements per rank is more than any memory holds", per_rank);
    return per_rank * static_cast<std::uint64_t>(ranks.size());
  }
  [[nodiscard]] std::span<std::int64_t> indices() const {
    return {reinterpret_cast<std::int64_t*>(indices_memory_.data()), requests_};
  }
  [[nodiscard]] std::span<std::int64_t> answers() const {
    return {reinterpret_cast<std::int64_t*>(answers_memory_.data()), requests_};
  }

  team& team_;
  std::size_t requests_;
  dist_array<std::int64_t, Distribution> table_;
  pages indices_memory_, answers_memory_;
  gather_plan<std::int64_t, Distribution> plan_;
  std::size_t wiped_ = 0;
};

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
       .help = "what is done with the elements: read, written, raised"},
      {.name = "strategy",
       .allowed = strategy_names(),
       .defaults = {"auto"},
       .help = "how requests reach the owner of an element"},
      {.name = "requests", .type = integer, .defaults = {"10000000"}, .help = "per rank", .low = 1, .high = 1L << 40},
      {.name = "table", .type = integer, .defaults = {"10000"}, .help = "elements per rank", .low = 1, .high = 1L << 48},
      {.name = "distribution", .allowed = {"cyclic", "block"}, .defaults = {"cyclic"}, .help = "of the table over the ranks"},
      {.name = "buffer-items",
       .type = integer,
       .defaults = {"1024"},
       .help = "per destination, of strategies that aggregate",
       .low = 1,
       .high = 1L << 24},
      {.name = "hops", .type = integer, .defaults = {}, .help = "of strategy conveyor", .low = 1, .high = 3},
  };
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts& facts) {
  if (const auto operation = what.at("operation").get<std::string>(); operation != "gather")
    return fmt::format("operation {} is not implemented yet: use gather", operation);
  return why_not(gather_strategy_of(what.at("strategy").get<std::string>()), facts.nodes == 1);
}

template <class Distribution>
std::unique_ptr<measurement> make(team& ranks, const variant& what, const launch_facts& facts) {
  gather_options options{.strategy = gather_strategy_of(what.at("strategy").get<std::string>())};
  if (what.contains("buffer_items")) options.buffer_items = what.at("buffer_items").get<std::size_t>();
  return std::make_unique<gather_measurement<Distribution>>(ranks, what, facts, options);
}

// Takes out what the strategy does not look at.
void settle(variant& what) {
  const auto strategy = gather_strategy_of(what.at("strategy").get<std::string>());
  if (strategy == gather_strategy::agp || strategy == gather_strategy::direct) what.erase("buffer_items");
  if (strategy != gather_strategy::conveyor) what.erase("hops");
}

}  // namespace

pattern gather_pattern() {
  return {.name = "gather",
          .help = "random elements of a distributed table",
          .factors = factors(),
          .examples =
              {"longshore-bench gather --ranks 2 --strategy agp,exstack,direct",
               "mpirun -n 4 longshore-bench gather --strategy exstack --buffer-items 256,1024,4096 --distribution cyclic,block"},
          .why_not = why_not_here,
          .make =
              [](team& ranks, const variant& what, const launch_facts& facts) {
                return what.at("distribution") == "block" ? make<block>(ranks, what, facts) : make<cyclic>(ranks, what, facts);
              },
          .settle = settle};
}

}  // namespace longshore::bench
