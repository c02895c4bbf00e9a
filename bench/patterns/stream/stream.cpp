// Pattern stream: the four kernels of STREAM, with factors such as scope, tasks, memory, first
// touch and distribution.
#include "facts/pages.hpp"
#include "harness/task_factors.hpp"
#include "patterns/memory_check.hpp"
#include "patterns/patterns.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/stream/choose_store_kind.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

namespace longshore::bench {
namespace {

// The default number of elements of each of three arrays of doubles per rank, a power of two. The
// arrays together are at least four times the caches of the machine, as STREAM demands. But there
// are at most 2^25 elements (805 MB per rank), and few enough that half of the memory stays free if
// every core has a rank.
long default_elements() {
  constexpr std::size_t bytes_per_element = 3 * sizeof(double), min_elements = std::size_t{1} << 20,
                        max_default = std::size_t{1} << 25;
  const std::size_t caches =
      last_level_cache_bytes() * static_cast<std::size_t>(last_level_cache_count());
  const std::size_t wanted = std::bit_ceil(4 * caches / bytes_per_element);
  const std::size_t possible = std::bit_floor(
      available_memory_bytes() / 2 / static_cast<std::size_t>(usable_cores()) / bytes_per_element);
  return static_cast<long>(std::clamp(std::min(wanted, possible), min_elements, max_default));
}

// Whether the calling thread, a rank, is bound to one CPU.
bool is_bound() { return allowed_cpus().size() == 1; }

stream_options options_of(const variant& levels) {
  const std::string touch = levels.contains("first_touch") ? levels.at("first_touch") : "";
  return {
      .kernel = level_of<stream_kernel>(levels, "kernel"),
      .stores = levels.at("stores") == "streaming" ? store_kind::streaming : store_kind::ordinary,
      .first_touch = touch.empty()         ? first_touch::automatic
                     : touch == "parallel" ? first_touch::parallel
                                           : first_touch::serial};
}

// The tasking layer of the last measurement of this rank, whose threads may still spin.
// thread_local, because ranks may be threads.
thread_local std::string spinning_layer;

template <class Arrays>
class stream_measurement final : public measurement {
 public:
  using value_type = typename Arrays::value_type;

  template <class MakeArrays>
  stream_measurement(team& ranks, const variant& levels, const MakeArrays& make_arrays)
      : team_(ranks),
        tasks_bound_(is_bound()),
        workers_(task_options_of(ranks, levels)),
        faults_(ranks),
        stream_(make_arrays(), workers_, options_of(levels)) {
    touch_faults_ = faults_.since_last();
    if (levels.at("stores") == "auto") {
      // Ranks may have parts of different sizes, so the mean counts.
      const auto bytes = ranks.allreduce_value(static_cast<double>(bytes_of_run()), reduction::sum);
      const int host_ranks = ranks.nodes().ranks_on_host();
      const auto host_bytes = static_cast<std::size_t>(bytes / ranks.size() * host_ranks);
      stores_ = choose_store_kind(ranks, stream_, host_bytes, host_ranks * workers_.count());
    }
  }

  // Wakes the tasks before a repetition. The idle threads of OpenMP spin for some milliseconds on
  // the same cores, which slowed down a next variant with another layer by 15 to 40 %.
  void reset() override {
    end_batch();
    if (std::exchange(spinning_layer, workers_.layer()) == "openmp" && workers_.layer() != "openmp")
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
    workers_.run([](int) {});
  }
  // Reads the clock only at the beginning of a repetition and after 1, 2, 4, ... runs, so that
  // short runs are not slowed down. own_seconds_ is the mean until the last of these readings.
  void run() override {
    if (batch_runs_ == 0) batch_start_ = team_.now();
    stream_.run();
    if (team_.costs() != nullptr)
      team_.charge(
          arrays_touched(stream_.options().kernel) == 2 ? "stream_copies" : "streamed_bytes",
          bytes_of_run());
    if (std::has_single_bit(++batch_runs_))
      own_seconds_ = (team_.now() - batch_start_) / static_cast<double>(batch_runs_);
  }
  [[nodiscard]] bool verify() override {
    const auto wrong = stream_.wrong_elements();
    if (wrong > 0)
      fmt::print(stderr, "longshore-bench: stream: rank {}: {} elements are wrong\n", team_.rank(),
                 wrong);
    return wrong == 0;
  }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    end_batch();
    std::nth_element(batches_.begin(),
                     batches_.begin() + static_cast<std::ptrdiff_t>(batches_.size() / 2),
                     batches_.end());
    const double own = batches_[batches_.size() / 2];
    const auto bytes = static_cast<double>(bytes_of_run());
    const double all_bytes = team_.allreduce_value(bytes, reduction::sum),
                 node_bytes = all_bytes / team_.nodes().node_count();
    const auto arrays = static_cast<double>(arrays_touched(stream_.options().kernel));
    const double moved_arrays = arrays + (reads_before_writing() ? 1 : 0);
    const double rate = bytes / own, rates = team_.allreduce_value(rate, reduction::sum);
    return {
        per_node("bandwidth", 1e-9 * node_bytes / seconds.median, "GB/s"),
        per_node("best_bandwidth", 1e-9 * node_bytes / seconds.best, "GB/s"),
        per_node("write_allocate_bandwidth",
                 1e-9 * node_bytes / seconds.median * moved_arrays / arrays, "GB/s"),
        per_rank("rank_bandwidth_max", 1e-9 * team_.allreduce_value(rate, reduction::max), "GB/s"),
        per_rank("rank_bandwidth_mean", 1e-9 * rates / team_.size(), "GB/s"),
        per_rank("rank_bandwidth_min", 1e-9 * team_.allreduce_value(rate, reduction::min), "GB/s"),
        {"region_start",
         1e6 * team_.allreduce_value(empty_region_seconds(workers_), reduction::max), "us", false}};
  }

  [[nodiscard]] json collect_facts() override {
    json stores{{"kind", name_of(stream_.options().stores)}};
    if (stores_)
      stores["chosen_by"] = stores_->measured ? "measuring" : "size",
      stores["cache_bytes"] = stores_->cache_bytes;
    return {{"stores", stores},
            {"first_touch",
             {{"by", stream_.touched_in_parallel() ? "parallel" : "serial"},
              {"threshold_bytes", threshold()}}},
            {"tasks",
             {{"layer", workers_.layer()}, {"count", workers_.count()}, {"bound", tasks_bound_}}},
            {"memory", memory()}};
  }

 private:
  // The bytes that this rank reads and writes in a run.
  [[nodiscard]] std::size_t bytes_of_run() {
    return arrays_touched(stream_.options().kernel) * stream_.arrays().local(0).size_bytes();
  }
  // Whether the processor reads the cache line of a result before storing it.
  [[nodiscard]] bool reads_before_writing() const {
    return stream_.options().stores == store_kind::ordinary ||
           instruction_sets().back() == instruction_set::portable;
  }

  // The array size above which all tasks share the first touch of the pages, if the choice is
  // automatic. Null if one thread always does the first touch, or if nothing was measured.
  [[nodiscard]] json threshold() const {
    const auto bytes = stream_.touch_threshold_bytes();
    return bytes && *bytes < std::numeric_limits<std::size_t>::max() ? json(*bytes) : json(nullptr);
  }
  [[nodiscard]] json memory() {
    const auto bytes = [&](std::size_t array) {
      return std::as_bytes(stream_.arrays().local(array));
    };
    const std::array ranges = {bytes(0), bytes(1), bytes(2)};
    json account = pages_of_ranks(team_, ranges);
    account["faults_of_touching"] = {{"minor", touch_faults_.minor},
                                     {"major", touch_faults_.major}};
    (void)faults_.since_last();
    stream_.run();  // an extra run, because other variants ran between the timed runs
    const fault_counts once_more = faults_.since_last();
    account["faults_of_running"] = {{"minor", once_more.minor}, {"major", once_more.major}};
    return account;
  }

  // The rate of a rank is that of its median repetition. It excludes waiting for other ranks.
  void end_batch() {
    if (batch_runs_ > 0) batches_.push_back(own_seconds_);
    batch_runs_ = 0;
  }

  team& team_;
  bool tasks_bound_;
  tasks workers_;
  page_fault_counter faults_;
  fault_counts touch_faults_;
  stream<Arrays> stream_;
  std::optional<store_choice> stores_;  // nothing if the user requested a kind of stores
  std::uint64_t batch_runs_ = 0;
  double batch_start_ = 0, own_seconds_ = 0;
  std::vector<double> batches_;  // seconds of a run in each repetition
};

template <class T>
std::unique_ptr<measurement> make(team& ranks, const variant& levels) {
  const auto elements = levels.at("elements").get<std::size_t>();
  if (levels.at("scope") == "ep") {
    check_memory(ranks, fmt::format("three arrays of {} elements", elements),
                 3.0 * static_cast<double>(elements) * sizeof(T));
    return std::make_unique<stream_measurement<own_arrays<T>>>(ranks, levels, [&] {
      return own_arrays<T>(elements, levels.at("memory").get<std::string>());
    });
  }
  if (elements > max_elements / static_cast<std::size_t>(ranks.size()))
    fail(errc::out_of_memory, "arrays of {} elements per rank: more than any memory holds",
         elements);
  const std::uint64_t all = elements * static_cast<std::uint64_t>(ranks.size());
  const auto distributed = [&]<class D>(D distribution) -> std::unique_ptr<measurement> {
    using arrays = distributed_arrays<T, D>;
    return std::make_unique<stream_measurement<arrays>>(
        ranks, levels, [&] { return arrays(ranks, all, distribution); });
  };
  const std::string name = levels.at("distribution");
  if (name == "cyclic") return distributed(cyclic{});
  if (name == "block-cyclic") return distributed(block_cyclic{.block_items = 1024});
  return distributed(block{});  // the only other level of factor distribution
}

std::optional<std::string> why_not_here(const variant& levels, const launch_facts&) {
  if (levels.contains("memory"))
    if (auto reason = why_no_memory(levels.at("memory").get<std::string>())) return reason;
  return why_no_tasks(levels.at("tasks").get<std::string>(), task_count_of(levels));
}

// Distributed arrays lie in segments of the transport, and own arrays have no distribution.
void settle(variant& levels) {
  levels.erase(levels.at("scope") == "ep" ? "distribution" : "memory");
}

std::vector<factor> factors() {
  constexpr long max_elements_of_rank = 1L << 48, max_tasks = 4096;
  return {
      word_factor("scope", {"ep", "global"}, "ep",
                  "ep: each rank has its own arrays; global: distributed arrays"),
      word_factor("kernel", {"copy", "scale", "add", "triad"}, "triad",
                  "copy: c=a; scale: b=q*c; add: c=a+b; triad: a=b+q*c"),
      integer_factor("elements", std::to_string(default_elements()),
                     "elements of each array, per rank; the default depends on the caches", 1,
                     max_elements_of_rank),
      word_factor("type", {"float", "double"}, "double", "type of an element"),
      word_factor("tasks", task_layer_names(), "serial", "tasking layer of the loops of a rank"),
      integer_factor("task-count", "",
                     "tasks of each rank; default: 1 for serial, else all CPUs of the rank", 1,
                     max_tasks),
      word_factor("memory", memory_policy_names(), "malloc",
                  "memory policy of the arrays of scope ep (scope global uses segments)"),
      word_factor(
          "first-touch", {"serial", "parallel"}, "",
          "which tasks write the pages first; default: parallel where measurements favour it"),
      word_factor(
          "distribution", {"block", "cyclic", "block-cyclic"}, "block",
          "distribution of the arrays of scope global; block-cyclic in blocks of 1024 elements"),
      word_factor("stores", {"auto", "ordinary", "streaming"}, "auto",
                  "how results are written; auto: streaming (bypassing the caches) where size and "
                  "measurement favour it"),
  };
}

}  // namespace

pattern stream_pattern() {
  return {
      .name = "stream",
      .help = "STREAM: memory bandwidth of simple loops over arrays",
      .factors = factors(),
      .examples = {"longshore-bench stream --ranks 2 --kernel copy,scale,add,triad",
                   "longshore-bench stream --ranks 1 --tasks serial,threads --memory malloc,huge",
                   "mpirun -n 2 longshore-bench stream --scope ep,global --type float,double"},
      .why_not = why_not_here,
      .make =
          [](team& ranks, const variant& levels, const launch_facts&) {
            return levels.at("type") == "float" ? make<float>(ranks, levels)
                                                : make<double>(ranks, levels);
          },
      .settle = settle,
      .symmetric_bytes = [](const variant& levels, int) -> std::size_t {
        constexpr std::size_t arrays = 3;
        return levels.at("scope") == "global"
                   ? arrays * sizeof(double) * levels.at("elements").get<std::size_t>()
                   : 0;
      }};
}

}  // namespace longshore::bench
