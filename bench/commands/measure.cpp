#include "commands/measure.hpp"

#include <longshore/core/delayed_notice.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/launch/run.hpp>

#include "commands/exit_status.hpp"
#include "commands/started_processes.hpp"
#include "harness/agreed_request.hpp"
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

// One launch. It owns the records and the table of rank 0, so that a failure on any rank of the
// process can end the file.
class launch {
 public:
  launch(request asked, process_facts process)
      : asked_(std::move(asked)), process_(std::move(process)) {}

  int run() {
    const int processes = processes_launched();
    if (processes > 1 && asked_.launch.transport == "threads")
      fail(errc::usage,
           "--transport: 'threads' would be {} separate runs under a launcher that starts {} "
           "processes; leave out the launcher, "
           "or take mpi",
           processes, processes);
    runtime start(launcher_options(processes));
    ranks_are_threads_ = start.options().transport == "threads";
    try {
      start.run([this](team& team) { guarded(team); });
    } catch (const std::exception& e) {
      if (recorder_) recorder_->clear_progress();
      if (!begun_) throw;
      print_error(e.what());
      return runtime_failure;
    }
    return status_;
  }

 private:
  // A launcher decides the number of processes. on_rank() compares it with --ranks.
  [[nodiscard]] run_options launcher_options(int processes) const {
    run_options options = asked_.launch;
    if (options.transport.empty() ? processes > 0 : options.transport != "threads")
      options.ranks = 0;
    if (options.transport == "shmem")
      options.symmetric_bytes =
          symmetric_bytes(*asked_.measured, asked_.factors, std::max(1, processes)) +
          (asked_.how.noise_probe ? noise_probe::symmetric_bytes : 0);
    return options;
  }

  void guarded(team& team) {
    begun_ = true;
    try {
      status_ = on_rank(team);
    } catch (const std::exception& e) {
      // Before rethrowing, because a transport whose ranks are processes then ends this one
      record_failure(e);
      throw;
    }
  }

  int on_rank(team& team) {
    const bool first = team.rank() == 0;
    if (asked_.launch.ranks > 0 && asked_.launch.ranks != team.size()) {
      if (first)
        fmt::print(stderr,
                   "longshore-bench: --ranks: {} asked for, but the launcher started {}; tell the "
                   "launcher instead: mpirun -n {}\n",
                   asked_.launch.ranks, team.size(), asked_.launch.ranks);
      return nothing_ran;
    }
    if (!team.broadcast_value(first ? open_records() : 0)) return nothing_ran;

    auto slow_start = notice_of_slow_start(team);
    const rank_places places = find_rank_places(team, process_.cpus);
    const clock_facts clock = measure_clock(team);
    const launch_facts facts{std::string(team.transport_name()), team.size(),
                             team.nodes().node_count(), team.nodes().largest_node(),
                             asked_.how.seed};
    const agreed_request agreed =
        agree_on_request(team, asked_.measured->name, {asked_.factors, asked_.how});
    const variants chosen = choose_variants(team, *asked_.measured, agreed.factors, facts);
    slow_start.reset();
    if (first) {
      file_->write(launch_record(team, asked_.how, places, clock, process_));
      announce(facts, chosen);
      for (const auto& skipped : chosen.skipped) recorder_->skipped(skipped);
    }
    const sweep_setting setting{*asked_.measured, facts, agreed.how, clock,
                                ranks_are_threads_ ? 1 : places.most_ranks_on_a_host};
    sweep_outcome outcome = sweep(team, setting, chosen, first ? &*recorder_ : nullptr);
    outcome.skipped += static_cast<int>(chosen.skipped.size());
    if (first) conclude(outcome);
    if (outcome.ran == 0) return nothing_ran;
    return outcome.wrong > 0 ? wrong_result : all_right;
  }

  // All ranks report where they run before anything is printed. With thousands of ranks on few
  // cores that takes a while.
  [[nodiscard]] std::unique_ptr<delayed_notice> notice_of_slow_start(const team& team) const {
    if (team.rank() != 0 || team.size() <= process_.usable_cores) return nullptr;
    const double seconds = asked_.launch.notice_seconds;
    return std::make_unique<delayed_notice>(seconds, [ranks = team.size(), seconds] {
      return fmt::format(
          "longshore-bench: after {:g} s the {} ranks are still reporting where they run", seconds,
          ranks);
    });
  }

  // Rank 0 only: 1 if the records can be written, else 0.
  int open_records() {
    try {
      file_.emplace(asked_.json_file);
    } catch (const error& e) {
      fmt::print(stderr, "longshore-bench: {}\n", e.what());
      return 0;
    }
    recorder_.emplace(asked_.measured->name, *file_, processes_launched() == 0);
    open_file_ = &*file_;
    return 1;
  }

  [[nodiscard]] std::FILE* table_file() const {
    return file_->takes_standard_output() ? stderr : stdout;
  }

  void announce(const launch_facts& facts, const variants& chosen) const {
    const auto counted = [](std::size_t n, const char* what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    fmt::print(table_file(), "{}: {}, {}, transport {}, {}{}, {}\n", asked_.measured->name,
               counted(static_cast<std::size_t>(facts.ranks), "rank"),
               counted(static_cast<std::size_t>(facts.nodes), "node"), facts.transport,
               counted(chosen.to_run.size(), "variant"),
               chosen.skipped.empty() ? "" : fmt::format(" ({} skipped)", chosen.skipped.size()),
               counted(static_cast<std::size_t>(asked_.how.repetitions), "repetition"));
    std::fflush(table_file());
  }

  void conclude(const sweep_outcome& outcome) {
    file_->write_last(end_record(outcome));
    recorder_->clear_progress();
    // Under a launcher a terminal is often only pretended.
    const bool colour = processes_launched() == 0 && isatty(fileno(table_file())) != 0 &&
                        !environment_text("NO_COLOR");
    fmt::print(table_file(), "{}", table(recorder_->rows(), colour));
    std::fflush(table_file());
    for (const auto& row : recorder_->rows())
      if (const auto* one = std::get_if<variant_result>(&row);
          one != nullptr && one->verified == false)
        fmt::print(stderr, "longshore-bench: wrong result: {} {}\n", asked_.measured->name,
                   label(one->what));
    if (outcome.ran == 0)
      fmt::print(stderr, "longshore-bench: nothing could run: {}\n", first_reason());
  }

  [[nodiscard]] std::string first_reason() const {
    for (const auto& row : recorder_->rows())
      if (const auto* skipped = std::get_if<skipped_variant>(&row)) return skipped->why;
    return "no variants";
  }

  // Writes the last record on the failing rank. Ranks that fail because another one failed write
  // nothing.
  void record_failure(const std::exception& e) {
    record_file* const file = open_file_;
    const auto* known = dynamic_cast<const error*>(&e);
    if (file == nullptr ||
        (ranks_are_threads_ && known != nullptr && known->code() == errc::peer_failed))
      return;
    try {
      file->write_last(
          failed_record(known == nullptr ? "unknown" : name_of(known->code()), e.what()));
    } catch (const std::exception&) {
      return;  // such as a full disk: the missing end of the file shows the failure
    }
  }

  request asked_;
  process_facts process_;
  bool ranks_are_threads_ = true;
  std::atomic<bool> begun_{false};
  std::atomic<record_file*> open_file_{nullptr};
  std::atomic<int> status_{runtime_failure};
  std::optional<record_file> file_;   // of rank 0
  std::optional<recorder> recorder_;  // of rank 0
};

}  // namespace

int measure(const request& asked, std::vector<std::string> command_line) {
  return launch(asked, {std::move(command_line), usable_cores(), allowed_cpus()}).run();
}

}  // namespace longshore::bench
