// Pattern stream: the four kernels of STREAM, crossed with scope, tasks, memory, first touch and
// distribution.
#include "facts/pages.hpp"
#include "patterns/patterns.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/empty_region.hpp>
#include <longshore/machine/memory.hpp>
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

// Elements of each of three arrays of doubles per rank, a power of two. The arrays are together at
// least four times the caches of the machine, as STREAM demands. At most 2^25 (805 MB per rank),
// and so few that a rank on every core leaves half of the memory free.
long default_elements() {
  constexpr std::size_t bytes_per_element = 3 * sizeof(double), least = std::size_t{1} << 20,
                        most = std::size_t{1} << 25;
  const std::size_t caches =
      last_level_cache_bytes() * static_cast<std::size_t>(last_level_cache_count());
  const std::size_t wanted = std::bit_ceil(4 * caches / bytes_per_element);
  const std::size_t possible = std::bit_floor(
      available_memory_bytes() / 2 / static_cast<std::size_t>(usable_cores()) / bytes_per_element);
  return static_cast<long>(std::clamp(std::min(wanted, possible), least, most));
}

// Whether the calling thread, a rank, is bound to one CPU.
bool is_bound() { return allowed_cpus().size() == 1; }

// The default count is all CPUs of the rank's share. Tasks are bound to CPUs if the rank is.
task_options task_options_of(const team& ranks, const variant& what) {
  const std::string layer = what.at("tasks");
  const int cpus = static_cast<int>(ranks.cpus().size());
  const int count = what.contains("task_count") ? what.at("task_count").get<int>()
                    : layer == "serial"         ? 1
                                                : cpus;
  return {.layer = layer,
          .count = count,
          .cpus = ranks.cpus(),
          .pin = is_bound(),
          .spin = ranks.waiting().spin && count <= cpus};
}

stream_options options_of(const variant& what) {
  const std::string touch = what.contains("first_touch") ? what.at("first_touch") : "";
  return {.kernel = stream_kernel_named(what.at("kernel").get<std::string>()).value(),
          .stores = what.at("stores") == "streaming" ? store_kind::streaming : store_kind::ordinary,
          .touch = touch.empty()         ? first_touch::automatic
                   : touch == "parallel" ? first_touch::parallel
                                         : first_touch::serial};
}

// The C library allocates more memory than there is, so all ranks of the machine check together
// before writing.
void check_memory(team& ranks, std::size_t elements, std::size_t element_bytes) {
  const std::size_t all = static_cast<std::size_t>(ranks.nodes().ranks_on_host());
  const auto available = static_cast<std::size_t>(ranks.allreduce_value(
      static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)),
      reduction::min));
  if (elements > available / (3 * element_bytes * all))
    fail(errc::out_of_memory,
         "three arrays of {} elements of {} bytes on each of {} ranks do not fit into the {} bytes "
         "available",
         elements, element_bytes, all, available);
}

// The tasking layer of the last measurement of this rank.
thread_local std::string spinning_layer;

template <class Arrays>
class stream_measurement final : public measurement {
 public:
  using value_type = typename Arrays::value_type;

  template <class MakeArrays>
  stream_measurement(team& ranks, const variant& what, const MakeArrays& make_arrays)
      : team_(ranks),
        tasks_bound_(is_bound()),
        workers_(task_options_of(ranks, what)),
        faults_(ranks),
        stream_(make_arrays(), workers_, options_of(what)) {
    touch_faults_ = faults_.since_last();
    if (what.at("stores") == "auto") {
      // Parts of distributed arrays differ between ranks: the machine holds its ranks' share of
      // all.
      const auto all = ranks.allreduce_value(static_cast<double>(bytes_of_run()), reduction::sum);
      const int machine_ranks = ranks.nodes().ranks_on_host();
      const auto of_machine = static_cast<std::size_t>(all / ranks.size() * machine_ranks);
      stores_ = choose_store_kind(ranks, stream_, of_machine, machine_ranks * workers_.count());
    }
  }

  // Tasks begin awake and without competitors. After a variant with OpenMP, its idle threads spin
  // for some milliseconds on the same cores, which slowed down the other layers by 15 to 40 %.
  void reset() override {
    end_batch();
    if (std::exchange(spinning_layer, workers_.layer()) == "openmp" && workers_.layer() != "openmp")
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
    workers_.run([](int) {});
  }
  // Reads the clock at the beginning of a repetition and after 1, 2, 4, ... runs only, so that it
  // does not slow down short runs.
  void run() override {
    if (batch_runs_ == 0) batch_start_ = team_.now();
    stream_.run();
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
    const double moved = arrays + (reads_before_writing() ? 1 : 0);
    const double rate = bytes / own, rates = team_.allreduce_value(rate, reduction::sum);
    return {
        per_node("bandwidth", 1e-9 * node_bytes / seconds.median, "GB/s"),
        per_node("best_bandwidth", 1e-9 * node_bytes / seconds.best, "GB/s"),
        per_node("write_allocate_bandwidth", 1e-9 * node_bytes / seconds.median * moved / arrays,
                 "GB/s"),
        per_rank("rank_bandwidth_max", 1e-9 * team_.allreduce_value(rate, reduction::max), "GB/s"),
        per_rank("rank_bandwidth_mean", 1e-9 * rates / team_.size(), "GB/s"),
        per_rank("rank_bandwidth_min", 1e-9 * team_.allreduce_value(rate, reduction::min), "GB/s"),
        {"region_start",
         1e6 * team_.allreduce_value(empty_region_seconds(workers_), reduction::max), "us", false}};
  }

  [[nodiscard]] json facts() override {
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
  // Bytes that one run of this rank reads and writes.
  [[nodiscard]] std::size_t bytes_of_run() {
    return arrays_touched(stream_.options().kernel) * stream_.arrays().local(0).size_bytes();
  }
  // Whether the processor reads the cache line of a result before storing it.
  [[nodiscard]] bool reads_before_writing() const {
    return stream_.options().stores == store_kind::ordinary ||
           instruction_sets().back() == instruction_set::portable;
  }

  // The size from which all tasks touch first, when the measurement chooses; null if they never do.
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
    stream_.run();  // counts one more run: other variants ran between the timed ones
    const fault_counts once_more = faults_.since_last();
    account["faults_of_running"] = {{"minor", once_more.minor}, {"major", once_more.major}};
    return account;
  }

  // The rate of a rank is that of its median repetition, without waiting for other ranks.
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
  std::optional<store_choice> stores_;  // nothing: requested by the user
  std::uint64_t batch_runs_ = 0;
  double batch_start_ = 0, own_seconds_ = 0;
  std::vector<double> batches_;  // seconds of one run, per repetition
};

template <class T>
std::unique_ptr<measurement> make(team& ranks, const variant& what) {
  const auto elements = what.at("elements").get<std::size_t>();
  if (what.at("scope") == "ep") {
    check_memory(ranks, elements, sizeof(T));
    return std::make_unique<stream_measurement<own_arrays<T>>>(
        ranks, what, [&] { return own_arrays<T>(elements, what.at("memory").get<std::string>()); });
  }
  if (elements > max_elements / static_cast<std::size_t>(ranks.size()))
    fail(errc::out_of_memory, "arrays of {} elements per rank: more than any memory holds",
         elements);
  const std::uint64_t all = elements * static_cast<std::uint64_t>(ranks.size());
  const auto distributed = [&]<class D>(D distribution) -> std::unique_ptr<measurement> {
    using arrays = distributed_arrays<T, D>;
    return std::make_unique<stream_measurement<arrays>>(
        ranks, what, [&] { return arrays(ranks, all, distribution); });
  };
  const std::string name = what.at("distribution");
  if (name == "cyclic") return distributed(cyclic{});
  if (name == "block-cyclic") return distributed(block_cyclic{.block_items = 1024});
  return distributed(block{});
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts&) {
  if (what.contains("memory"))
    if (auto reason = why_no_memory(what.at("memory").get<std::string>())) return reason;
  return why_no_tasks(what.at("tasks").get<std::string>(),
                      what.contains("task_count") ? what.at("task_count").get<int>() : 0);
}

// Distributed arrays lie in segments of the transport, and own arrays have no distribution.
void settle(variant& what) { what.erase(what.at("scope") == "ep" ? "distribution" : "memory"); }

std::vector<factor> factors() {
  using enum factor::kind;
  return {
      {.name = "scope",
       .allowed = {"ep", "global"},
       .defaults = {"ep"},
       .help = "ep: each rank has its own arrays; global: distributed arrays"},
      {.name = "kernel",
       .allowed = {"copy", "scale", "add", "triad"},
       .defaults = {"triad"},
       .help = "c=a, b=q*c, c=a+b, a=b+q*c"},
      {.name = "elements",
       .type = integer,
       .defaults = {std::to_string(default_elements())},
       .help = "of each array, per rank; the default depends on the caches",
       .low = 1,
       .high = 1L << 48},
      {.name = "type",
       .allowed = {"float", "double"},
       .defaults = {"double"},
       .help = "of an element"},
      {.name = "tasks",
       .allowed = task_layer_names(),
       .defaults = {"serial"},
       .help = "tasking layer of the loops of a rank"},
      {.name = "task-count",
       .type = integer,
       .defaults = {},
       .help = "per rank; default: 1 for serial, else all CPUs of the rank",
       .low = 1,
       .high = 4096},
      {.name = "memory",
       .allowed = memory_policy_names(),
       .defaults = {"malloc"},
       .help = "of scope ep; scope global uses segments"},
      {.name = "first-touch",
       .allowed = {"serial", "parallel"},
       .defaults = {},
       .help = "which tasks write the pages first; default: parallel where measurements favour it"},
      {.name = "distribution",
       .allowed = {"block", "cyclic", "block-cyclic"},
       .defaults = {"block"},
       .help = "of scope global; block-cyclic in blocks of 1024 elements"},
      {.name = "stores",
       .allowed = {"auto", "ordinary", "streaming"},
       .defaults = {"auto"},
       .help = "how results are written; auto: streaming (bypassing the caches) where size and "
               "measurement favour it"},
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
          [](team& ranks, const variant& what, const launch_facts&) {
            return what.at("type") == "float" ? make<float>(ranks, what)
                                              : make<double>(ranks, what);
          },
      .settle = settle,
      .symmetric_bytes = [](const variant& what, int) -> std::size_t {
        constexpr std::size_t arrays = 3;
        return what.at("scope") == "global"
                   ? arrays * sizeof(double) * what.at("elements").get<std::size_t>()
                   : 0;
      }};
}

}  // namespace longshore::bench
