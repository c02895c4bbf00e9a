// One launch from start to end: starts the ranks, lets them agree on the variants, sweeps over the
// variants, and writes records and the table on rank 0. A failing rank writes the last record. Also
// serves the other requests of a command line: --list and help.
#include "commands/command_line.hpp"
#include "commands/commands.hpp"

#include <longshore/core/delayed_notice.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/launch/run.hpp>

#include "commands/running.hpp"
#include "harness/agreed_request.hpp"
#include "harness/line_probe.hpp"
#include "harness/noise_probe.hpp"
#include "harness/sweep.hpp"
#include "harness/variants.hpp"
#include "records/launch_record.hpp"
#include "records/record_file.hpp"
#include "records/recorder.hpp"
#include "records/table.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>

namespace longshore::bench {
namespace {

// A launch. Owns the record file and the table of rank 0, so that a failure on any rank of its
// process can write the last record.
class launch {
 public:
  launch(request asked, process_facts process)
      : asked_(std::move(asked)), process_(std::move(process)) {}

  int run() {
    const int processes = processes_launched();
    if (processes > 1 && detail::is_one_process(asked_.launch.transport))
      fail(errc::usage,
           "--transport: '{}' would be {} separate runs under a launcher that starts {} "
           "processes; leave out the launcher, "
           "or take mpi",
           asked_.launch.transport, processes, processes);
    runtime ranks(runtime_options(processes));
    ranks_are_one_process_ = detail::is_one_process(ranks.options().transport);
    try {
      ranks.run([this](team& team) { run_rank(team); });
    } catch (const std::exception& e) {
      if (recorder_) recorder_->clear_progress();
      if (!any_rank_started_) throw;
      print_error(e.what());
      return runtime_failure;
    }
    return status_;
  }

 private:
  // A launcher decides the number of processes. measure_on_rank() compares that number with
  // --ranks.
  [[nodiscard]] run_options runtime_options(int processes) const {
    run_options options = asked_.launch;
    if (ranks_are_processes(options.transport)) options.ranks = 0;  // as many as were started
    if (options.transport == "shmem")
      options.symmetric_bytes =
          symmetric_bytes(*asked_.measured, asked_.factors, std::max(1, processes)) +
          (asked_.options.noise_probe ? noise_probe::symmetric_bytes + line_probe::symmetric_bytes
                                      : 0);
    return options;
  }

  void run_rank(team& team) {
    any_rank_started_ = true;
    try {
      status_ = measure_on_rank(team);
    } catch (const std::exception& e) {
      // Before rethrowing: a transport whose ranks are processes then ends the process
      record_failure(e);
      throw;
    }
  }

  int measure_on_rank(team& team) {
    const bool first = team.rank() == 0;
    if (asked_.launch.ranks > 0 && asked_.launch.ranks != team.size()) {
      if (first)
        fmt::print(stderr,
                   "longshore-bench: --ranks: {} asked for, but the launcher started {}; tell the "
                   "launcher instead: mpirun -n {}\n",
                   asked_.launch.ranks, team.size(), asked_.launch.ranks);
      return nothing_ran;
    }
    if (!team.broadcast_value(first && open_records())) return nothing_ran;

    auto slow_start = notice_of_slow_start(team);
    const rank_places places = find_rank_places(team, process_.cpus);
    const clock_facts clock = measure_clock(team);
    const launch_facts facts{std::string(team.transport_name()), team.size(),
                             team.nodes().node_count(), team.nodes().largest_node(),
                             asked_.options.seed};
    const agreed_request agreed =
        agree_on_request(team, asked_.measured->name, {asked_.factors, asked_.options});
    const variants chosen = choose_variants(team, *asked_.measured, agreed.factors, facts);
    slow_start.reset();
    if (first) {
      json record = launch_record(team, asked_.options, places, clock, process_);
      if (team.costs() != nullptr)
        record["simulated"] = {{"machine", team.library_version()},
                               {"file", with_environment(asked_.launch).machine}};
      file_->write(record);
      announce(team, facts, chosen);
      for (const auto& skipped : chosen.skipped) recorder_->skipped(skipped);
    }
    const sweep_setting setting{*asked_.measured, facts, agreed.options, clock,
                                ranks_are_one_process_ ? 1 : places.max_ranks_on_host};
    sweep_outcome outcome = sweep(team, setting, chosen, first ? &*recorder_ : nullptr);
    outcome.skipped += static_cast<int>(chosen.skipped.size());
    if (first) conclude(outcome);
    if (outcome.ran == 0) return nothing_ran;
    return outcome.wrong > 0 ? wrong_result : all_right;
  }

  // Nothing is printed before all ranks have reported where they run, which takes long with
  // thousands of ranks on few cores.
  [[nodiscard]] std::unique_ptr<delayed_notice> notice_of_slow_start(const team& team) const {
    if (team.rank() != 0 || team.size() <= process_.usable_cores) return nullptr;
    const double seconds = asked_.launch.notice_seconds;
    return std::make_unique<delayed_notice>(seconds, [ranks = team.size(), seconds] {
      return fmt::format(
          "longshore-bench: after {:g} s the {} ranks are still reporting where they run", seconds,
          ranks);
    });
  }

  // On rank 0. Returns whether the records can be written.
  bool open_records() {
    try {
      file_.emplace(asked_.json_file);
    } catch (const error& e) {
      fmt::print(stderr, "longshore-bench: {}\n", e.what());
      return false;
    }
    recorder_.emplace(asked_.measured->name, *file_, processes_launched() == 0);
    open_file_ = &*file_;
    return true;
  }

  [[nodiscard]] std::FILE* table_file() const {
    return file_->takes_standard_output() ? stderr : stdout;
  }

  void announce(const team& ranks, const launch_facts& facts, const variants& chosen) const {
    const auto counted = [](std::size_t n, const char* what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    fmt::print(table_file(), "{}: {}, {}, transport {}{}, {}{}, {}\n", asked_.measured->name,
               counted(static_cast<std::size_t>(facts.ranks), "rank"),
               counted(static_cast<std::size_t>(facts.nodes), "node"), facts.transport,
               ranks.costs() == nullptr
                   ? ""
                   : fmt::format(" (machine {}: seconds are simulated)", ranks.library_version()),
               counted(chosen.to_run.size(), "variant"),
               chosen.skipped.empty() ? "" : fmt::format(" ({} skipped)", chosen.skipped.size()),
               counted(static_cast<std::size_t>(asked_.options.repetitions), "repetition"));
    std::fflush(table_file());
  }

  void conclude(const sweep_outcome& outcome) {
    file_->write_last(end_record(outcome));
    recorder_->clear_progress();
    // A launcher often imitates a terminal.
    const bool colour = processes_launched() == 0 && isatty(fileno(table_file())) != 0 &&
                        !environment_text("NO_COLOR");
    fmt::print(table_file(), "{}", table(recorder_->rows(), colour));
    std::fflush(table_file());
    for (const auto& row : recorder_->rows())
      if (const auto* result = std::get_if<variant_result>(&row);
          result != nullptr && result->verified == false)
        fmt::print(stderr, "longshore-bench: wrong result: {} {}\n", asked_.measured->name,
                   label(result->levels));
    if (outcome.ran == 0)
      fmt::print(stderr, "longshore-bench: nothing could run: {}\n", first_reason());
  }

  [[nodiscard]] std::string first_reason() const {
    for (const auto& row : recorder_->rows())
      if (const auto* skipped = std::get_if<skipped_variant>(&row)) return skipped->reason;
    return "no variants";
  }

  // Writes the last record on the failing rank. Ranks that fail because another rank failed write
  // nothing.
  void record_failure(const std::exception& e) {
    record_file* const file = open_file_;
    const auto* longshore_error = dynamic_cast<const error*>(&e);
    if (file == nullptr || (ranks_are_one_process_ && longshore_error != nullptr &&
                            longshore_error->code() == errc::peer_failed))
      return;
    try {
      file->write_last(failed_record(
          longshore_error == nullptr ? "unknown" : name_of(longshore_error->code()), e.what()));
    } catch (const std::exception&) {
      return;  // for example, the disk is full. The file then lacks its last record.
    }
  }

  request asked_;
  process_facts process_;
  bool ranks_are_one_process_ = true;
  std::atomic<bool> any_rank_started_{false};
  std::atomic<record_file*> open_file_{nullptr};
  std::atomic<int> status_{runtime_failure};  // all ranks of a process store the same status
  // In the process of rank 0 only
  std::optional<record_file> file_;
  std::optional<recorder> recorder_;
};

}  // namespace

int run_pattern_command(int argc, char** argv, std::span<const pattern> patterns) {
  return run_command([&] {
    const request asked = parse_command_line(argc, argv, patterns);
    switch (asked.requested) {
      case request::action::print: return print_text(asked.text);
      case request::action::list: return print_text(listing(patterns).dump(1) + "\n");
      case request::action::measure: break;
    }
    return launch(asked, {{argv, argv + argc}, usable_cores(), allowed_cpus()}).run();
  });
}

}  // namespace longshore::bench
