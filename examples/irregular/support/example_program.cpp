#include "example_program.hpp"

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

namespace examples {
namespace {

std::vector<option> all_options(const description& about) {
  std::vector<option> options = {
      {.name = "transport",
       .value = "",
       .help = "transport of the bytes; by default mpi under its launcher, else threads",
       .words = longshore::available_transports()},
      {.name = "ranks",
       .value = "",
       .help = "number of ranks; by default one per core; a launcher decides it itself",
       .low = 1,
       .high = 1 << 20},
      {.name = "ranks-per-node",
       .value = "0",
       .help = "virtual nodes of this many ranks; 0: the real nodes",
       .high = 1 << 20},
      {.name = "engine",
       .value = "conveyor",
       .help = "aggregation engine",
       .words = {"exstack2", "conveyor", "aggregator"}},
      {.name = "hops", .value = "", .help = "hops of engine conveyor", .low = 1, .high = 3},
      {.name = "buffer-items",
       .value = "0",
       .help = "items of a buffer; 0: up to 1024, within 64 MiB per rank",
       .high = 1 << 24},
      {.name = "size",
       .value = std::to_string(about.size),
       .help = about.size_is,
       .high = 4294967295.0},
      {.name = "seed", .value = "122222", .help = "seed of random input", .high = 9e18},
      {.name = "repetitions",
       .value = "5",
       .help = "number of timed repetitions",
       .low = 1,
       .high = 1e6},
      {.name = "verify",
       .value = "yes",
       .help = "compare the result with a serial run on rank 0",
       .words = {"yes", "no"}},
  };
  options.insert(options.end(), about.options.begin(), about.options.end());
  return options;
}

longshore::run_options launch_options(const command_line& options) {
  longshore::run_options launch = longshore::options_from_environment();
  if (!options.word("transport").empty()) launch.transport = options.word("transport");
  if (!options.word("ranks").empty()) launch.ranks = static_cast<int>(options.whole("ranks"));
  if (options.whole("ranks-per-node") > 0)
    launch.ranks_per_node = static_cast<int>(options.whole("ranks-per-node"));
  return launch;
}

// Usage errors occur before the ranks start, so the launcher's variables show which process prints.
bool is_first_process() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const auto rank = longshore::environment_text(variable)) return *rank == "0";
  return true;
}

int print_problem(const description& about, const std::exception& problem, exit_status status) {
  if (is_first_process()) fmt::print(stderr, "{}: {}\n", about.name, problem.what());
  return status;
}

}  // namespace

program::program(std::string name, longshore::team& team, const command_line& options)
    : name_(std::move(name)), team_(team), options_(options) {}

longshore::engine_options program::with_chosen_engine(longshore::engine_options chosen) const {
  chosen.buffer_items = options_.whole("buffer-items");
  const bool shared_nodes = team_.nodes().node_count() > 1 && team_.nodes().largest_node() > 1;
  if (options_.word("engine") == "conveyor") chosen.hops = shared_nodes ? 2 : 1;
  if (!options_.word("hops").empty()) chosen.hops = static_cast<int>(options_.whole("hops"));
  if (options_.word("engine") == "aggregator") {
    chosen.hops = 3;
    chosen.one_stream = true;
  }
  return chosen;
}

longshore::gather_options program::gather() const {
  longshore::gather_options chosen{
      .strategy = longshore::from_name<longshore::gather_strategy>(options_.word("engine"))};
  if (!options_.word("hops").empty()) chosen.hops = static_cast<int>(options_.whole("hops"));
  if (options_.whole("buffer-items") > 0) chosen.buffer_items = options_.whole("buffer-items");
  return chosen;
}

void program::measure(const std::function<void()>& operation) {
  seconds_.clear();
  for (std::uint64_t repetition = 0; repetition < options_.whole("repetitions"); ++repetition) {
    team_.barrier();
    const double begin = team_.now();
    operation();
    seconds_.push_back(team_.allreduce_value(team_.now() - begin, longshore::reduction::max));
    if (team_.rank() == 0)
      fmt::print("{}: repetition={} seconds={:.6g}\n", name_, repetition, seconds_.back());
  }
  std::sort(seconds_.begin(), seconds_.end());
}

double program::median_seconds() const {
  const std::size_t n = seconds_.size();
  return n == 0 ? 0 : (seconds_[(n - 1) / 2] + seconds_[n / 2]) / 2;
}

void program::metric(const std::string& metric_name, std::int64_t value) {
  metrics_.emplace_back(metric_name, std::to_string(value));
}

void program::total(const std::string& metric_name, std::int64_t my_value) {
  metric(metric_name, team_.allreduce_value(my_value, longshore::reduction::sum));
}

void program::rate(const std::string& items_name, std::uint64_t my_items) {
  const auto items =
      team_.allreduce_value(static_cast<std::int64_t>(my_items), longshore::reduction::sum);
  metric(items_name, items);
  metrics_.emplace_back(items_name + "_per_second",
                        fmt::format("{:.6g}", static_cast<double>(items) / median_seconds()));
}

void program::verify(const std::string& problem) {
  verified_ = true;
  const int nobody = team_.size();
  const int first =
      team_.allreduce_value(problem.empty() ? nobody : team_.rank(), longshore::reduction::min);
  if (first == nobody) return;
  wrong_ = true;
  if (first == team_.rank()) fmt::print(stderr, "{}: wrong result: {}\n", name_, problem);
}

exit_status program::finish() {
  if (team_.rank() == 0) {
    std::string line = fmt::format("{}: ranks={} nodes={} transport={}", name_, team_.size(),
                                   team_.nodes().node_count(), team_.transport_name());
    for (const option& o : options_.options())
      if (!o.value.empty() && o.name != "ranks" && o.name != "ranks-per-node" &&
          o.name != "transport" && o.name != "verify" && o.name != "hops")
        line += fmt::format(" {}={}", o.name, o.value);
    line += fmt::format(" hops={}", with_chosen_engine({}).hops);
    if (!seconds_.empty())
      line += fmt::format(" best_seconds={:.6g} median_seconds={:.6g}", seconds_.front(),
                          median_seconds());
    for (const auto& [metric_name, value] : metrics_)
      line += fmt::format(" {}={}", metric_name, value);
    fmt::print("{} verified={}\n", line, !verified_ ? "no" : wrong_ ? "wrong" : "yes");
    std::fflush(stdout);
  }
  return wrong_ ? wrong_result : all_right;
}

int run_program(int argc, char** argv, const description& about,
                const std::function<void(program&)>& body) {
  try {
    const command_line options(argc, argv, all_options(about));
    if (options.asks_for_help()) {
      if (is_first_process())
        fmt::print("{}: {}\n\nOptions:\n{}", about.name, about.about, options.help());
      return all_right;
    }
    if (!options.word("hops").empty() && options.word("engine") != "conveyor")
      longshore::fail(longshore::errc::usage,
                      "--hops is for --engine conveyor; {} has a fixed number",
                      options.word("engine"));
    std::atomic<int> status = all_right;  // ranks may be threads
    longshore::runtime runtime(launch_options(options));
    runtime.run([&](longshore::team& team) {
      if (!options.word("ranks").empty() &&
          static_cast<std::uint64_t>(team.size()) != options.whole("ranks"))
        longshore::fail(longshore::errc::usage, "--ranks {}: the launcher started {}",
                        options.word("ranks"), team.size());
      program run(about.name, team, options);
      body(run);
      status = run.finish();
    });
    return status;
  } catch (const longshore::error& problem) {
    return print_problem(about, problem,
                         problem.code() == longshore::errc::usage ? wrong_usage : runtime_failure);
  } catch (const std::exception& problem) {
    return print_problem(about, problem, runtime_failure);
  }
}

}  // namespace examples
