// Runs a few variants of each pattern as any launch does, and turns their figures into the numbers
// of a machine file. What a number stands for is in docs/explanation/simulated-machine.md.
#include "commands/measured_machine.hpp"

#include <longshore/core/error.hpp>

#include "commands/parse_levels.hpp"
#include "facts/rank_places.hpp"
#include "harness/agreed_request.hpp"
#include "harness/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace longshore::bench {
namespace {

using levels_by_factor = std::map<std::string, std::vector<json>>;

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

double metric_of(const variant_result& result, const std::string& name) {
  for (const auto& metric : result.metrics)
    if (metric.name == name) return metric.value;
  fail(errc::transport, "calibrate: {} has no figure {}", label(result.levels), name);
}

double phase_of(const variant_result& result, const std::string& name) {
  for (const auto& [phase, seconds] : result.seconds.phases)
    if (phase == name) return seconds;
  fail(errc::transport, "calibrate: {} has no phase {}", label(result.levels), name);
}

// Numbers with four digits, as TOML writes them.
std::string number(double value) {
  std::string text = fmt::format("{:.4g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// A number that depends on a size, as [[largest size, number], ...].
class by_size {
 public:
  void add(double largest, double value) { entries_.emplace_back(largest, value); }
  /// As the simulated machine reads it. REQUIRES: there are entries.
  [[nodiscard]] double of(double size) const {
    auto entry = entries_.begin();
    while (entry + 1 != entries_.end() && size > entry->first) ++entry;
    return entry->second;
  }
  [[nodiscard]] const auto& entries() const noexcept { return entries_; }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& [largest, value] : entries_)
      text += fmt::format("{}[{:.0f}, {}]", text.empty() ? "[" : ", ", largest, number(value));
    return text + "]";
  }

 private:
  std::vector<std::pair<double, double>> entries_;
};

// The limit between two sizes that are measured, a factor of 2 to 4 apart.
constexpr double limit_factor = 1.5;

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

  std::vector<machine_table> measure() {
    if (facts_.nodes > 1) return {network()};
    std::vector<machine_table> tables{memory()};
    tables.push_back(cost());
    return tables;
  }

 private:
  machine_table network() {
    const auto loggp = one("messages between nodes", "control",
                           {{"kernel", {"loggp"}}, {"over", {"channel"}}, {"pair", {"remote"}}});
    const char* const source = "control, kernel loggp over channel, pair remote";
    machine_table table{"network", {}};
    const auto add = [&](const char* key, const char* metric) {
      table.entries.push_back({key, number(std::max(0.0, figure(loggp, metric))), source});
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

  // Seconds per byte of a copy by each rank at once, of `bytes` or of the default size. Of a copy, the
  // kernel counts bytes read and bytes written.
  double copy_rate(const char* what, const levels_by_factor& bytes) {
    auto levels = bytes;
    levels["kernel"] = {"copy"};
    const double node_gigabytes = figure(one(what, "control", levels), "bandwidth") / 2;
    return node_gigabytes > 0 ? 1e-9 * team_.size() / node_gigabytes : 1;
  }

  double seconds_of_copy(const by_size& gigabytes, double bytes, double touched_bytes) const {
    return 1e-9 * bytes / gigabytes.of(touched_bytes);
  }

  machine_table memory() {
    for (const long bytes : {1L << 18, 1L << 19, 1L << 21, 1L << 23}) {
      const double touched = 2.0 * static_cast<double>(bytes);  // read and written
      own_copy_.add(limit_factor * touched, 1e-9 / copy_rate("copies", {{"bytes", {bytes}}}));
    }
    const double own = own_copy_.of(0), large = 1e-9 / copy_rate("copies of large memory", {});
    // All ranks in a row: two of the six faces go to other ranks, the others to the rank itself.
    const auto faces = [&](long elements) {
      return seconds(one("copies between ranks", "halo",
                         {{"contiguous", {elements}},
                          {"mode", {"direct"}},
                          {"grid", {json{team_.size(), 1, 1}}}}));
    };
    const double per_face_byte =
        (faces(long_face) - faces(short_face)) / (sizeof(double) * (long_face - short_face));
    const double near = 2e-9 / std::max(2e-9 / own, per_face_byte - 4e-9 / own);
    for (const auto& [largest, gigabytes] : own_copy_.entries())
      near_copy_.add(largest, std::min(near, gigabytes));
    const auto loggp = one("messages within the node", "control",
                           {{"kernel", {"loggp"}}, {"over", {"channel"}}, {"pair", {"near"}}});
    const auto fetch_add = one("atomics", "control", {{"kernel", {"fetch-add"}}});
    const char* const near_source = "halo, algorithm faces, mode direct, less its own copies";
    const char* const loggp_source = "control, kernel loggp over channel, pair near";
    message_us_ = std::max(figure(loggp, "send_overhead_us"), figure(loggp, "receive_overhead_us"));
    return {"memory",
            {{"own_copy_GB_per_s", own_copy_.text(), "control, kernel copy, half of a rank's rate"},
             {"near_copy_GB_per_s", near_copy_.text(), near_source},
             {"far_copy_GB_per_s", near_copy_.text(), near_source},
             {"node_copy_GB_per_s", number(std::max(own, large) * team_.size()),
              "control, kernel copy"},
             {"latency_us", number(figure(loggp, "latency_us")), loggp_source},
             {"atomic_us", number(figure(fetch_add, "fetch_add_us")), "control, kernel fetch-add"},
             {"message_us", number(message_us_), loggp_source}}};
  }

  // Of arrays that fit the caches and of larger ones, as [[largest bytes of a rank's arrays, GB/s]].
  std::string stream_rates() {
    constexpr double bytes_per_element = 3 * sizeof(double);
    by_size rates;
    for (const long elements :
         {1L << 13, 1L << 15, 1L << 16, 1L << 17, 1L << 18, 1L << 19, 1L << 21})
      rates.add(
          limit_factor * static_cast<double>(elements) * bytes_per_element,
          figure(one("stream", "stream", {{"elements", {elements}}}), "bandwidth") / team_.size());
    return rates.text();
  }

  double item_seconds(const char* operation, const char* strategy) {
    return seconds(one(
               "items of engines", "gather",
               {{"operation", {operation}}, {"strategy", {strategy}}, {"requests", {requests}}})) /
           requests;
  }

  // Seconds of a cache line that short runs touch, besides the bytes. All ranks are in a row along
  // z, so cells at the ends of z go to other ranks, in rows of n cells. The rank then copies the
  // cells at the ends of x, in runs of one cell, and those at the ends of y, in rows that include
  // the halo along x. halo/detail/copy says how many lines a run counts.
  struct block {
    long length;
    int fields;
  };
  static double touched_bytes_of(const block& it) {
    const auto with_halo = static_cast<double>(it.length + halo_cells);
    constexpr double line_bytes = 96, row_bytes = 2 * 4 * sizeof(double);  // along x; y and z
    return it.fields * with_halo * with_halo * (line_bytes + row_bytes);
  }
  double line_seconds(const block& it) {
    const auto n = static_cast<double>(it.length);
    constexpr double double_bytes = sizeof(double);
    const double with_halo = n + halo_cells, touched = touched_bytes_of(it),
                 cell_bytes = double_bytes * it.fields, near_bytes = cell_bytes * 2 * n * n,
                 own_bytes = cell_bytes * 2 * with_halo * (n + with_halo) + near_bytes,
                 lines = it.fields * (1.5 * n * with_halo + 2 * with_halo + 4 * n);
    const double exchange = seconds(one("cache lines of short runs", "halo",
                                        {{"domain", {json{it.length, it.length, it.length}}},
                                         {"mode", {"channel"}},
                                         {"fields", {it.fields}},
                                         {"grid", {json{1, 1, team_.size()}}}}));
    const double known = seconds_of_copy(own_copy_, own_bytes, touched) +
                         seconds_of_copy(near_copy_, near_bytes, touched) + 2e-6 * message_us_;
    return std::max(0.0, exchange - known) / lines;
  }

  // For cells that fit the caches and more, as [[largest bytes of touched lines, ns]].
  std::string line_costs() {
    by_size costs;
    for (const block& it : {block{32, 1}, block{64, 1}, block{64, 2}, block{64, 4}, block{64, 16}})
      costs.add(limit_factor * touched_bytes_of(it), 1e9 * line_seconds(it));
    return costs.text();
  }

  // Adds the nanoseconds of a unit of work. Few units fit the caches, more do not.
  static void add_work(by_size& costs, long units, double seconds) {
    constexpr double limit = 3;
    costs.add(limit * static_cast<double>(units), 1e9 * seconds / static_cast<double>(units));
  }

  struct key_costs {
    by_size bucket, sort, part_sort;
  };
  key_costs measure_keys() {
    key_costs costs;
    for (const long keys : {1L << 15, 1L << 18, 1L << 21}) {
      const auto put = one("keys", "sort", {{"exchange", {"put"}}, {"keys", {keys}}});
      const double scattered = phase(put, "count") + phase(put, "bucketize");
      // Ranks that share a core work in turn. So a phase lasts as if the rank were alone, and other
      // ranks wait in the phases offsets and exchange. The costs add up to the time of the sort.
      const double computed = scattered + phase(put, "local_sort"),
                   key_bytes = static_cast<double>(keys) * sizeof(std::uint32_t),
                   copies = seconds_of_copy(near_copy_, key_bytes, 2 * key_bytes),
                   turns = computed > 0 ? std::max(1.0, (seconds(put) - copies) / computed) : 1;
      add_work(costs.bucket, keys, scattered * turns);
      add_work(costs.sort, keys, phase(put, "local_sort") * turns);
      const auto direct = one("keys", "sort", {{"exchange", {"direct"}}, {"keys", {keys}}});
      add_work(costs.part_sort, keys, std::max(0.0, seconds(direct) - scattered * turns));
    }
    return costs;
  }

  machine_table cost() {
    const std::string stream = stream_rates();
    by_size access;
    for (const long count : {1L << 14, 1L << 17, 1L << 20})
      add_work(access, count,
               seconds(one("table accesses", "gather",
                           {{"strategy", {"direct"}}, {"requests", {count}}})));
    // Merging private copies loads and stores each element of all copies of this rank's part.
    const double merged = 2.0 * team_.size() * table_elements *
                          seconds(one("table accesses", "gather",
                                      {{"strategy", {"direct"}}, {"requests", {requests}}})) /
                          requests,
                 private_update =
                     std::max(0.0, item_seconds("histogram", "direct") - merged / requests);
    const double update = item_seconds("histogram", "agp");
    const double exstack = item_seconds("histogram", "exstack");
    const double conveyor = item_seconds("histogram", "conveyor");
    const double exstack_reply = std::max(0.0, item_seconds("gather", "exstack") - exstack);
    const double conveyor_reply = std::max(0.0, item_seconds("gather", "conveyor") - conveyor);
    const key_costs key = measure_keys();
    const std::string lines = line_costs();
    const auto ns = [](double seconds) { return number(1e9 * seconds); };
    const char* const by_exstack = "gather, operation histogram by exstack: half of it";
    const char* const by_conveyor = "gather, operation histogram by conveyor: half of it";
    return {"cost",
            {{"stream_GB_per_s", stream, "stream, kernel triad, the rate of a rank"},
             {"line_ns", lines, "halo, mode channel, less its bytes"},
             {"push_ns", ns(exstack / 2), by_exstack},
             {"pull_ns", ns(exstack / 2), by_exstack},
             {"reply_ns", ns(exstack_reply), "gather by exstack, less the requests"},
             {"conveyor_push_ns", ns(conveyor / 2), by_conveyor},
             {"conveyor_pull_ns", ns(conveyor / 2), by_conveyor},
             {"conveyor_reply_ns", ns(conveyor_reply), "gather by conveyor, less the requests"},
             {"bucket_ns", key.bucket.text(), "sort, phases count and bucketize"},
             {"sort_ns", key.sort.text(), "sort, phase local_sort"},
             {"part_sort_ns", key.part_sort.text(), "sort, exchange direct, less bucket_ns"},
             {"table_access_ns", access.text(), "gather by direct"},
             {"table_update_ns", ns(update), "gather, operation histogram by agp"},
             {"private_update_ns", ns(private_update),
              "gather, operation histogram by direct, less merging"}}};
  }

  // Figures of rank 0; other ranks have no results, and their numbers are not used.
  static double figure(const variant_result& result, const char* name) {
    return result.metrics.empty() ? 0 : metric_of(result, name);
  }
  static double phase(const variant_result& result, const char* name) {
    return result.seconds.phases.empty() ? 0 : phase_of(result, name);
  }
  static double seconds(const variant_result& result) { return result.seconds.median; }

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

  static constexpr long requests = 200'000, table_elements = 10'000;  // the default table
  static constexpr long short_face = 8, long_face = 4096;             // of doubles
  static constexpr int halo_cells = 2;                                // at both ends of a dimension

  team& team_;
  std::span<const pattern> patterns_;
  sweep_options options_;
  launch_facts facts_;
  clock_facts clock_;
  by_size own_copy_, near_copy_;  // GB/s; set by memory()
  double message_us_ = 0;         // set by memory()
};

}  // namespace

std::vector<machine_table> measure_machine(team& team, std::span<const pattern> patterns,
                                           int repetitions) {
  return machine_measurements(team, patterns, repetitions).measure();
}

}  // namespace longshore::bench
