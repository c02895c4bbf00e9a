// Runs a few variants of each pattern as any launch does, and turns their figures into the numbers
// of a machine file. What a number stands for is in docs/explanation/simulated-machine.md. Variants
// of a pattern run by turns, so each finds caches as the others have left them, as in a launch.
#include "commands/measured_machine.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>

#include "commands/parse_levels.hpp"
#include "harness/agreed_request.hpp"
#include "harness/sweep.hpp"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::bench {
namespace {

using levels_by_factor = std::map<std::string, std::vector<json>>;

std::vector<json> levels_of(std::span<const long> sizes) { return {sizes.begin(), sizes.end()}; }

// Collects the results of a sweep, on rank 0.
class results final : public observer {
 public:
  void visit(int, int, std::size_t, std::size_t, const variant&) override {}
  void sample(const variant&, int, std::size_t, const bench::repetition&) override {}
  void result(const variant_result& measured) override { ran.push_back(measured); }
  void skipped(const skipped_variant& skip) override { reason = skip.reason; }

  std::vector<variant_result> ran;
  std::string reason;
};

// A figure of a result, on rank 0. Other ranks have no results and get 0, which is not used.
double figure(const variant_result& result, const char* name) {
  for (const auto& metric : result.metrics)
    if (metric.name == name) return metric.value;
  if (result.metrics.empty()) return 0;
  fail(errc::transport, "calibrate: {} has no figure {}", label(result.levels), name);
}

// The seconds of a phase, in the same way.
double phase(const variant_result& result, const char* name) {
  for (const auto& [found, seconds] : result.seconds.phases)
    if (found == name) return seconds;
  if (result.metrics.empty()) return 0;
  fail(errc::transport, "calibrate: {} has no phase {}", label(result.levels), name);
}

// Numbers with four digits, as TOML writes them.
std::string number(double value) {
  std::string text = fmt::format("{:.4g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Nanoseconds of a unit of work for several sizes, as points of a line. The simulated machine
// interpolates between the points in the same way.
class by_size {
 public:
  void add(double size, double ns) { points_.emplace_back(size, ns); }
  /// REQUIRES: there are points.
  [[nodiscard]] double of(double size) const {
    auto after = points_.begin();
    while (after + 1 != points_.end() && size > after->first) ++after;
    if (after == points_.begin() || size >= after->first) return after->second;
    const auto before = after - 1;
    return std::lerp(before->second, after->second,
                     (size - before->first) / (after->first - before->first));
  }
  [[nodiscard]] const auto& points() const noexcept { return points_; }
  /// [[size, ns], ...]
  [[nodiscard]] std::string text() const {
    return text_of([](double ns) { return ns; });
  }
  /// The same points as [[size, GB/s], ...]. REQUIRES: the unit of work is a byte.
  [[nodiscard]] std::string rates_text() const {
    return text_of([](double ns) { return ns > 0 ? 1 / ns : 1; });
  }

 private:
  template <class Value>
  [[nodiscard]] std::string text_of(const Value& value) const {
    std::string text;
    for (const auto& [size, ns] : points_)
      text += fmt::format("{}[{:.0f}, {}]", text.empty() ? "[" : ", ", size, number(value(ns)));
    return text + "]";
  }
  std::vector<std::pair<double, double>> points_;
};

// Collective. Returns, on rank 0, the seconds in which a core changes from a waiting rank to
// another rank. Returns 0 if ranks 0 and 1 cannot share a core, or on a simulated machine. The two
// ranks bind themselves to one CPU, and answer each other through a word of shared memory. Each
// yields the core until it sees the answer, like any wait of ranks that share cores.
double measure_core_switch(team& team) {
  constexpr std::uint64_t rounds = 4000;
  constexpr int repetitions = 5;
  const bool takes_part = team.rank() < 2;
  if (team.size() < 2 || team.costs() != nullptr) return 0;
  const auto memory = team.allocate(sizeof(std::uint64_t));
  const int cpu = team.broadcast_value(allowed_cpus().front());
  std::optional<pinned> binding;
  if (takes_part) binding.emplace(cpu);
  const bool is_ready =
      !takes_part || (allowed_cpus() == std::vector{cpu} && memory->direct(0) != nullptr);
  if (team.allreduce_value(is_ready ? 1 : 0, reduction::min) == 0) return 0;

  std::array<double, repetitions> seconds{};
  for (int i = 0; i < repetitions; ++i) {
    team.barrier();
    if (!takes_part) continue;
    const std::atomic_ref turn(*reinterpret_cast<std::uint64_t*>(memory->direct(0)));
    const auto me = static_cast<std::uint64_t>(team.rank());
    const std::uint64_t first = 2 * rounds * static_cast<std::uint64_t>(i);
    const double start = team.now();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t mine = first + 2 * round + me;
      while (turn.load(std::memory_order_acquire) != mine) sched_yield();
      turn.store(mine + 1, std::memory_order_release);
    }
    seconds[static_cast<std::size_t>(i)] = (team.now() - start) / (2.0 * rounds);
  }
  team.barrier();
  std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
  return seconds[repetitions / 2];
}

class machine_measurements {
 public:
  machine_measurements(team& ranks, std::span<const pattern> patterns, int repetitions)
      : team_(ranks), patterns_(patterns) {
    options_.repetitions = repetitions;
    options_.noise_probe = false;
    facts_ = {std::string(ranks.transport_name()), ranks.size(), ranks.nodes().node_count(),
              ranks.nodes().largest_node(), options_.seed};
    clock_ = measure_clock(ranks);
  }

  machine_tables measure() {
    if (facts_.nodes > 1) return {{"network", network()}};
    // In this order: cost() uses what memory() finds.
    return {{"machine", machine()}, {"memory", memory()}, {"cost", cost()}};
  }

 private:
  using entries = std::vector<machine_entry>;

  entries network() {
    const auto loggp = one("messages between nodes", "control",
                           {{"kernel", {"loggp"}}, {"over", {"channel"}}, {"pair", {"remote"}}});
    const char* const source = "control, kernel loggp over channel, pair remote";
    entries table;
    const auto add = [&](const char* key, const char* metric) {
      table.push_back({key, number(std::max(0.0, figure(loggp, metric))), source});
    };
    add("latency_us", "latency_us");
    add("send_overhead_us", "send_overhead_us");
    add("receive_overhead_us", "receive_overhead_us");
    add("overhead_ns_per_byte", "overhead_per_byte_ns");
    add("gap_us", "gap_us");
    // Exchanges that follow each other send more than a burst.
    const bool has_bursts =
        figure(loggp, "long_gap_per_byte_ns") > figure(loggp, "gap_per_byte_ns");
    add("ns_per_byte", has_bursts ? "long_gap_per_byte_ns" : "gap_per_byte_ns");
    return table;
  }

  // Empty if no two ranks can be bound to a core.
  entries machine() {
    const double seconds = measure_core_switch(team_);
    if (seconds <= 0) return {};
    return {{"switch_ns", number(1e9 * seconds), "two ranks of a core that yield by turns"}};
  }

  // Nanoseconds per byte of a copy, if all ranks copy at the same time. The kernel counts bytes
  // read and bytes written.
  double copy_ns(const variant_result& copy) {
    const double node_gigabytes = figure(copy, "bandwidth") / 2;
    return node_gigabytes > 0 ? team_.size() / node_gigabytes : 1;
  }

  static double seconds_of_copy(const by_size& ns, double bytes, double touched_bytes) {
    return 1e-9 * bytes * ns.of(touched_bytes);
  }

  entries memory() {
    constexpr std::array sizes{1L << 17, 1L << 18, 1L << 19, 1L << 20, 1L << 21, 1L << 23};
    const auto copies =
        many("copies", "control", {{"kernel", {"copy"}}, {"bytes", levels_of(sizes)}});
    for (const long bytes : sizes)
      own_copy_.add(2.0 * static_cast<double>(bytes),  // read and written
                    copy_ns(with(copies, {{"bytes", bytes}})));
    const double own = own_copy_.of(0),
                 large = copy_ns(one("copies of large memory", "control", {{"kernel", {"copy"}}}));
    // All ranks are in a row. So two of the six faces go to other ranks, the others to the rank
    // itself.
    const auto faces = [&](long elements) {
      return seconds(one("copies between ranks", "halo",
                         {{"contiguous", {elements}},
                          {"mode", {"direct"}},
                          {"grid", {json{team_.size(), 1, 1}}}}));
    };
    const double per_face_byte =
        (faces(long_face) - faces(short_face)) / (sizeof(double) * (long_face - short_face));
    const double own_face = own_copy_.of(6 * bytes_touched_by_face);
    const double near = std::max(2 * own_face, 1e9 * per_face_byte - 4 * own_face) / 2;
    for (const auto& [size, ns] : own_copy_.points()) near_copy_.add(size, std::max(near, ns));
    const auto loggp = one("messages within the node", "control",
                           {{"kernel", {"loggp"}}, {"over", {"channel"}}, {"pair", {"near"}}});
    const auto fetch_add = one("atomics", "control", {{"kernel", {"fetch-add"}}});
    const char* const near_source = "halo, algorithm faces, mode direct, less its own copies";
    const char* const loggp_source = "control, kernel loggp over channel, pair near";
    message_us_ = std::max(figure(loggp, "send_overhead_us"), figure(loggp, "receive_overhead_us"));
    return {
        points_,
        {"own_copy_GB_per_s", own_copy_.rates_text(),
         "control, kernel copy, half of a rank's rate"},
        {"near_copy_GB_per_s", near_copy_.rates_text(), near_source},
        {"far_copy_GB_per_s", near_copy_.rates_text(), near_source},
        {"node_copy_GB_per_s", number(team_.size() / std::min(own, large)), "control, kernel copy"},
        {"latency_us", number(figure(loggp, "latency_us")), loggp_source},
        {"atomic_us", number(figure(fetch_add, "fetch_add_us")), "control, kernel fetch-add"},
        {"message_us", number(message_us_), loggp_source}};
  }

  // Costs by the bytes of a rank's arrays, for kernels of three arrays and of two.
  struct stream_costs {
    by_size three, two;
  };
  stream_costs measure_streams() {
    constexpr std::array sizes{1L << 13, 1L << 15, 1L << 16, 1L << 17,
                               1L << 18, 1L << 19, 1L << 21};
    const auto ran =
        many("stream", "stream", {{"kernel", {"triad", "copy"}}, {"elements", levels_of(sizes)}});
    stream_costs costs;
    for (const long elements : sizes) {
      const auto add = [&](by_size& ns, const char* kernel, int arrays) {
        const auto of_kernel = with(ran, {{"kernel", kernel}, {"elements", elements}});
        const double gigabytes = figure(of_kernel, "bandwidth") / team_.size();
        ns.add(static_cast<double>(elements) * sizeof(double) * arrays,
               gigabytes > 0 ? 1 / gigabytes : 1);
      };
      add(costs.three, "triad", 3);
      add(costs.two, "copy", 2);
    }
    return costs;
  }

  // The seconds that each cache line of a short run costs in addition to its bytes. All ranks are
  // in a row along z, so cells at the ends of z go to other ranks, in rows of n cells. The rank
  // then copies the cells at the ends of x, in runs of one cell, and those at the ends of y, in
  // rows that include the halo along x. exchange/detail/copy says how many lines a run counts.
  struct block {
    long length;
    int fields;
  };
  static double touched_bytes_of(const block& it) {
    const auto with_halo = static_cast<double>(it.length + halo_cells);
    constexpr double line_bytes = 96, row_bytes = 2 * 4 * sizeof(double);  // along x; y and z
    return it.fields * with_halo * with_halo * (line_bytes + row_bytes);
  }
  double line_seconds(const block& it, const variant_result& exchanged) {
    const auto n = static_cast<double>(it.length);
    constexpr double double_bytes = sizeof(double);
    const double with_halo = n + halo_cells, touched = touched_bytes_of(it),
                 cell_bytes = double_bytes * it.fields, near_bytes = cell_bytes * 2 * n * n,
                 own_bytes = cell_bytes * 2 * with_halo * (n + with_halo) + near_bytes,
                 lines = it.fields * (1.5 * n * with_halo + 2 * with_halo + 4 * n);
    const double known = seconds_of_copy(own_copy_, own_bytes, touched) +
                         seconds_of_copy(near_copy_, near_bytes, touched) + 2e-6 * message_us_;
    return std::max(0.0, seconds(exchanged) - known) / lines;
  }

  by_size measure_lines() {
    const json small{32, 32, 32}, large{64, 64, 64};
    const auto ran = many("cache lines of short runs", "halo",
                          {{"domain", {small, large}},
                           {"mode", {"channel"}},
                           {"fields", {1, 2, 4, 16}},
                           {"grid", {json{1, 1, team_.size()}}}});
    by_size costs;
    for (const block& it : {block{32, 1}, block{64, 1}, block{64, 2}, block{64, 4}, block{64, 16}})
      costs.add(touched_bytes_of(it),
                1e9 * line_seconds(it, with(ran, {{"domain", it.length == 32 ? small : large},
                                                  {"fields", it.fields}})));
    return costs;
  }

  struct key_costs {
    by_size bucket, sort, part_sort;
  };
  key_costs measure_keys() {
    constexpr std::array sizes{1L << 15, 1L << 18, 1L << 21};
    const auto ran =
        many("keys", "sort", {{"exchange", {"put", "direct"}}, {"keys", levels_of(sizes)}});
    key_costs costs;
    for (const long keys : sizes) {
      const auto put = with(ran, {{"exchange", "put"}, {"keys", keys}});
      const auto direct = with(ran, {{"exchange", "direct"}, {"keys", keys}});
      const double scattered = phase(put, "count") + phase(put, "bucketize");
      // Ranks that share a core work in turn. So a phase lasts as if the rank were alone, and other
      // ranks wait in the phases offsets and exchange. The costs add up to the time of the sort.
      const double computed = scattered + phase(put, "local_sort"),
                   key_bytes = static_cast<double>(keys) * sizeof(std::uint32_t),
                   copies = seconds_of_copy(near_copy_, key_bytes, 2 * key_bytes),
                   turns = computed > 0 ? std::max(1.0, (seconds(put) - copies) / computed) : 1;
      add_work(costs.bucket, keys, scattered * turns);
      add_work(costs.sort, keys, phase(put, "local_sort") * turns);
      add_work(costs.part_sort, keys, std::max(0.0, seconds(direct) - scattered * turns));
    }
    return costs;
  }

  // Adds the nanoseconds of a unit of work.
  static void add_work(by_size& costs, long units, double seconds) {
    costs.add(static_cast<double>(units), 1e9 * seconds / static_cast<double>(units));
  }

  // Nanoseconds of an index or an item.
  struct gather_costs {
    by_size access, agp_access, update, private_update;
    double exstack = 0, exstack_reply = 0, conveyor = 0, conveyor_reply = 0;
  };
  gather_costs measure_gathers() {
    constexpr std::array sizes{1L << 14, 1L << 17, 1L << 20};
    constexpr long items = 1L << 17;
    const auto ran = many("items and table accesses", "gather",
                          {{"operation", {"gather", "histogram"}},
                           {"strategy", {"direct", "agp", "exstack", "conveyor"}},
                           {"requests", levels_of(sizes)}});
    const auto of = [&](const char* operation, const char* strategy, long requests) {
      return seconds(
          with(ran, {{"operation", operation}, {"strategy", strategy}, {"requests", requests}}));
    };
    gather_costs costs;
    for (const long requests : sizes) {
      const double access = of("gather", "direct", requests);
      add_work(costs.access, requests, access);
      add_work(costs.agp_access, requests, of("gather", "agp", requests));
      add_work(costs.update, requests, of("histogram", "agp", requests));
      // Merging private copies loads and stores each element of all copies of this rank's part.
      const double merged =
          2.0 * team_.size() * table_elements * access / static_cast<double>(requests);
      add_work(costs.private_update, requests,
               std::max(0.0, of("histogram", "direct", requests) - merged));
    }
    const auto of_item = [&](const char* operation, const char* strategy) {
      return 1e9 * of(operation, strategy, items) / items;
    };
    costs.exstack = of_item("histogram", "exstack");
    costs.exstack_reply = std::max(0.0, of_item("gather", "exstack") - costs.exstack);
    costs.conveyor = of_item("histogram", "conveyor");
    costs.conveyor_reply = std::max(0.0, of_item("gather", "conveyor") - costs.conveyor);
    return costs;
  }

  entries cost() {
    const stream_costs stream = measure_streams();
    const gather_costs gather = measure_gathers();
    const key_costs key = measure_keys();
    const by_size lines = measure_lines();
    const char* const by_exstack = "gather, operation histogram by exstack: half of it";
    const char* const by_conveyor = "gather, operation histogram by conveyor: half of it";
    return {points_,
            {"stream_GB_per_s", stream.three.rates_text(), "stream, kernel triad, a rank's rate"},
            {"stream_copy_GB_per_s", stream.two.rates_text(), "stream, kernel copy, a rank's rate"},
            {"line_ns", lines.text(), "halo, mode channel, less its bytes"},
            {"push_ns", number(gather.exstack / 2), by_exstack},
            {"pull_ns", number(gather.exstack / 2), by_exstack},
            {"reply_ns", number(gather.exstack_reply), "gather by exstack, less the requests"},
            {"conveyor_push_ns", number(gather.conveyor / 2), by_conveyor},
            {"conveyor_pull_ns", number(gather.conveyor / 2), by_conveyor},
            {"conveyor_reply_ns", number(gather.conveyor_reply),
             "gather by conveyor, less the requests"},
            {"bucket_ns", key.bucket.text(), "sort, phases count and bucketize"},
            {"sort_ns", key.sort.text(), "sort, phase local_sort"},
            {"part_sort_ns", key.part_sort.text(), "sort, exchange direct, less bucket_ns"},
            {"table_access_ns", gather.access.text(), "gather by direct"},
            {"agp_access_ns", gather.agp_access.text(), "gather by agp"},
            {"table_update_ns", gather.update.text(), "gather, operation histogram by agp"},
            {"private_update_ns", gather.private_update.text(),
             "gather, operation histogram by direct, less merging"}};
  }

  static double seconds(const variant_result& result) { return result.seconds.median; }

  // The result with these levels; an empty one on ranks other than 0.
  static variant_result with(const std::vector<variant_result>& ran,
                             const std::map<std::string, json>& levels) {
    for (const auto& result : ran)
      if (std::all_of(levels.begin(), levels.end(), [&](const auto& level) {
            return result.levels.at(level.first) == level.second;
          }))
        return result;
    return {};
  }

  variant_result one(const char* what, const std::string& pattern_name,
                     const levels_by_factor& levels) {
    auto all = many(what, pattern_name, levels);
    return all.empty() ? variant_result{} : std::move(all.front());
  }

  // Collective. The results on rank 0; nothing on other ranks.
  std::vector<variant_result> many(const char* what, const std::string& pattern_name,
                                   const levels_by_factor& levels) {
    const bool first = team_.rank() == 0;
    if (first) fmt::print(stderr, "longshore-bench: calibrate: {}\n", what);
    const auto found = std::find_if(patterns_.begin(), patterns_.end(),
                                    [&](const pattern& it) { return it.name == pattern_name; });
    std::vector<factor_levels> factors;
    for (const auto& factor : found->factors) {
      const auto given = levels.find(factor.name);
      factors.push_back(
          {factor.name, given == levels.end() ? default_levels(factor) : given->second});
    }
    const variants chosen = choose_variants(team_, *found, factors, facts_);
    results collected;
    for (const auto& skip : chosen.skipped) collected.reason = skip.reason;
    const sweep_outcome outcome =
        sweep(team_, {*found, facts_, options_, clock_}, chosen, first ? &collected : nullptr);
    if (outcome.ran == 0)
      fail(errc::unsupported, "calibrate: {} cannot be measured here: {}", what,
           first ? collected.reason : "see rank 0");
    if (outcome.wrong > 0) fail(errc::transport, "calibrate: {}: a result was wrong", what);
    return std::move(collected.ran);
  }

  static constexpr long table_elements = 10'000;           // the default table
  static constexpr long short_face = 8, long_face = 4096;  // of doubles
  static constexpr double bytes_touched_by_face = 2.0 * sizeof(double) * long_face;
  static constexpr int halo_cells = 2;  // at both ends of a dimension

  team& team_;
  std::span<const pattern> patterns_;
  sweep_options options_;
  launch_facts facts_;
  clock_facts clock_;
  const machine_entry points_{"sizes", "\"points\"", "numbers between two sizes lie on a line"};
  by_size own_copy_, near_copy_;  // of a byte; set by memory()
  double message_us_ = 0;         // set by memory()
};

}  // namespace

machine_tables measure_machine(team& team, std::span<const pattern> patterns, int repetitions) {
  return machine_measurements(team, patterns, repetitions).measure();
}

}  // namespace longshore::bench
