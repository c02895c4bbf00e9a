// Pattern sort: the bucket exchange of ISx, with a real sort at its end.
#include "benchmark.hpp"

#include <longshore/bucket/bucket_sort.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/pages.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace longshore::bench {
namespace {

using key = std::uint32_t;

constexpr long default_max_key = 1L << 28;
constexpr std::uint64_t iso_bucket_width = 8192;  // as ISx has it

// How many keys this rank makes, and how many the ranks before it and all make.
struct key_share {
  std::size_t mine;
  std::uint64_t before, total;
};

key_share share_of(const team& ranks, const variant& what) {
  const auto keys = what.at("keys").get<std::uint64_t>();
  const auto rank = static_cast<std::uint64_t>(ranks.rank()), size = static_cast<std::uint64_t>(ranks.size());
  if (what.at("scaling") != "strong") return {keys, keys * rank, keys * size};
  const std::uint64_t each = keys / size, more = keys % size;
  return {each + (rank < more ? 1 : 0), each * rank + std::min(rank, more), keys};
}

std::uint64_t max_key_of(const variant& what, int ranks) {
  return what.at("scaling") == "weak-iso" ? iso_bucket_width * static_cast<std::uint64_t>(ranks)
                                          : what.at("max_key").get<std::uint64_t>();
}

// uniform: ISx's. zipf: key k with a probability that falls as 1 / (k + 1). sorted: ascending over all ranks, evenly spaced.
void generate(std::span<key> keys, const std::string& pattern, const key_share& share, std::uint64_t max_key,
              random_stream random) {
  if (pattern == "uniform") {
    for (auto& one : keys) one = static_cast<key>(random.below(max_key));
  } else if (pattern == "zipf") {
    // By inversion of the distribution of density 1 / x on [1, max_key + 1).
    const double log_range = std::log1p(static_cast<double>(max_key));
    for (auto& one : keys)
      one = static_cast<key>(std::min(static_cast<std::uint64_t>(std::exp(random.uniform() * log_range)) - 1, max_key - 1));
  } else {
    __extension__ using uint128 = unsigned __int128;
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = static_cast<key>(static_cast<uint128>(share.before + i) * max_key / share.total);
  }
}

// The keys, their copy in bucket order and what is received, of all ranks of the machine together.
std::size_t checked_bytes(team& ranks, std::size_t keys) {
  const auto sharing = static_cast<std::size_t>(ranks.nodes().is_virtual() ? ranks.size() : ranks.nodes().my_rank_count());
  const auto available = static_cast<std::size_t>(
      ranks.allreduce_value(static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)), reduction::min));
  const std::size_t most = available / (3 * sizeof(key)) / sharing;
  if (ranks.allreduce_value(keys > most ? 1 : 0, reduction::max) == 1)
    fail(errc::out_of_memory,
         "{} keys on each of {} ranks, and twice as much to sort them, do not fit into the {} bytes available", keys, sharing,
         available);
  return keys * sizeof(key);
}

class sort_measurement final : public measurement {
 public:
  sort_measurement(team& ranks, const variant& what, const launch_facts& facts)
      : team_(ranks),
        share_(share_of(ranks, what)),
        pattern_(what.at("key_pattern").get<std::string>()),
        max_key_(max_key_of(what, ranks.size())),
        seed_(facts.seed),
        memory_(checked_bytes(ranks, share_.mine), true),
        sorter_(ranks, {.exchange = bucket_exchange_of(what.at("exchange").get<std::string>()),
                        .order = exchange_order_of(what.at("order").get<std::string>()),
                        .max_key = max_key_,
                        .seed = facts.seed}) {}

  // The same keys again and again, as ISx does: made anew, so that making them is timed too.
  void reset() override {
    end_batch();
    const double start = team_.now();
    generate(keys(), pattern_, share_, max_key_, random_stream(seed_, static_cast<std::uint64_t>(team_.rank())));
    generate_seconds_ = team_.now() - start;
  }

  void run() override {
    const double start = team_.now();
    sorted_ = sorter_.sort(keys());
    batch_sort_seconds_ += team_.now() - start;
    batch_exchange_seconds_ += sorter_.phases().exchange;
    ++batch_runs_;
  }

  [[nodiscard]] std::vector<std::pair<std::string, double>> phases() const override {
    const bucket_phases& of_sort = sorter_.phases();
    return {{"generate", generate_seconds_},  {"count", of_sort.count},       {"offsets", of_sort.offsets},
            {"bucketize", of_sort.bucketize}, {"exchange", of_sort.exchange}, {"local_sort", of_sort.local_sort}};
  }

  [[nodiscard]] bool verify() override {
    const auto faults = check_sorted(team_, content_of<key>(keys()), sorted_);
    if (!faults.none() && team_.rank() == 0) fmt::print(stderr, "longshore-bench: sort: {}\n", faults.text);
    return faults.none();
  }
  [[nodiscard]] traffic moved() const override { return sorter_.moved(); }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    end_batch();
    double exchange = 0;
    for (const auto& [phase, lasted] : seconds.phases)
      if (phase == "exchange") exchange = lasted;
    const auto total = static_cast<double>(share_.total);
    const double node_bytes = total * sizeof(key) / team_.nodes().node_count();
    return {{"keys_per_second", total / seconds.median, "keys/s"},
            {"exchange_bandwidth", 1e-9 * node_bytes / exchange, "GB/s"},
            {"total_seconds", mean_over_ranks(total_seconds_), "s", false},
            {"exchange_seconds", mean_over_ranks(exchange_seconds_), "s", false}};
  }

 private:
  [[nodiscard]] std::span<key> keys() const { return {reinterpret_cast<key*>(memory_.data()), share_.mine}; }

  // ISx's figures: of each rank by itself, with the making of keys in the total.
  void end_batch() {
    if (batch_runs_ > 0) {
      total_seconds_.push_back(generate_seconds_ + batch_sort_seconds_ / static_cast<double>(batch_runs_));
      exchange_seconds_.push_back(batch_exchange_seconds_ / static_cast<double>(batch_runs_));
    }
    batch_sort_seconds_ = batch_exchange_seconds_ = 0;
    batch_runs_ = 0;
  }
  // Over ranks, of each rank's median over repetitions. (ISx takes the mean over repetitions, in which one disturbance counts
  // as much as all the rest.)
  double mean_over_ranks(std::vector<double> seconds) {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return team_.allreduce_value(*middle, reduction::sum) / team_.size();
  }

  team& team_;
  key_share share_;
  std::string pattern_;
  std::uint64_t max_key_, seed_;
  pages memory_;
  bucket_sorter<key> sorter_;
  std::span<const key> sorted_;
  double generate_seconds_ = 0, batch_sort_seconds_ = 0, batch_exchange_seconds_ = 0;
  long batch_runs_ = 0;
  std::vector<double> total_seconds_, exchange_seconds_;  // by repetition
};

template <class Table>
std::vector<std::string> names_in(const Table& table) {
  std::vector<std::string> names;
  for (const auto& known : table) names.emplace_back(known.name);
  return names;
}

std::vector<factor> factors() {
  using enum factor::kind;
  return {
      {.name = "exchange",
       .allowed = names_in(bucket_exchanges),
       .defaults = {"put"},
       .help = "how keys reach the rank of their bucket"},
      {.name = "order",
       .allowed = names_in(exchange_orders),
       .defaults = {"round-robin"},
       .help = "in which a rank serves the others"},
      {.name = "keys",
       .type = integer,
       .defaults = {"4194304"},
       .help = "per rank; in all with strong scaling",
       .low = 1,
       .high = 1L << 40},
      {.name = "scaling",
       .allowed = {"weak", "strong", "weak-iso"},
       .defaults = {"weak"},
       .help = "weak-iso: the range of keys is 8192 per rank, whatever --max-key says"},
      {.name = "max-key",
       .type = integer,
       .defaults = {std::to_string(default_max_key)},
       .help = "keys are 32-bit numbers below this",
       .low = 1,
       .high = 1L << 32},
      {.name = "key-pattern", .allowed = {"uniform", "zipf", "sorted"}, .defaults = {"uniform"}, .help = "which keys there are"},
      {.name = "tasks",
       .allowed = {"serial", "threads", "openmp", "tbb"},
       .defaults = {"serial"},
       .help = "what runs the loops of a rank"},
      {.name = "task-count", .type = integer, .defaults = {}, .help = "per rank", .low = 1, .high = 4096},
  };
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts& facts) {
  if (const auto tasks = what.at("tasks").get<std::string>(); tasks != "serial")
    return fmt::format("tasks {} are not implemented yet in a bucket sort: use serial", tasks);
  if (what.contains("task_count") && what.at("task_count") != 1)
    return "tasks serial are one task per rank: leave --task-count out";
  if (what.at("scaling") == "weak-iso" && max_key_of(what, facts.ranks) > std::uint64_t{1} << 32)
    return "weak-iso with so many ranks needs keys of more than 32 bits";
  return why_not(bucket_exchange_of(what.at("exchange").get<std::string>()),
                 exchange_order_of(what.at("order").get<std::string>()));
}

}  // namespace

pattern sort_pattern() {
  return {.name = "sort",
          .help = "bucket sort of integer keys (ISx)",
          .factors = factors(),
          .examples =
              {"longshore-bench sort --ranks 2 --exchange put,alltoallv,sendrecv",
               "mpirun -n 4 longshore-bench sort --exchange put --order round-robin,random --keys 1048576 --scaling weak,strong"},
          .why_not = why_not_here,
          .make = [](team& ranks, const variant& what, const launch_facts& facts) -> std::unique_ptr<measurement> {
            return std::make_unique<sort_measurement>(ranks, what, facts);
          },
          .settle =
              [](variant& what) {
                if (what.at("scaling") == "weak-iso") what.erase("max_key");
              }};
}

}  // namespace longshore::bench
