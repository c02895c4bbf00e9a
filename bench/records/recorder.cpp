#include "records/recorder.hpp"

#include <longshore/core/clock.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace longshore::bench {
namespace {

constexpr double seconds_between_progress = 0.1;
constexpr std::size_t progress_width = 100;

json by_name(const std::vector<std::pair<std::string, double>>& phases) {
  json object = json::object();
  for (const auto& [name, seconds] : phases) object[name] = seconds;
  return object;
}

json metrics_object(const std::vector<metric>& metrics) {
  json object = json::object();
  for (const auto& one : metrics)
    object[one.name] = {{"value", one.value},
                        {"unit", one.unit},
                        {"better", one.higher_is_better ? "higher" : "lower"}};
  return object;
}

}  // namespace

recorder::recorder(std::string pattern_name, record_file& file, bool show_progress)
    : pattern_name_(std::move(pattern_name)),
      file_(file),
      on_terminal_(show_progress && isatty(STDERR_FILENO) != 0) {}

recorder::~recorder() { clear_progress(); }

void recorder::visit(int round, int rounds, std::size_t position, std::size_t positions,
                     const variant& what) {
  if (!on_terminal_) return;
  const double now = monotonic_seconds();
  if (now - last_shown_ < seconds_between_progress) return;
  last_shown_ = now;
  std::string line = round < 0 ? "preparing" : fmt::format("round {}/{}", round + 1, rounds);
  line += fmt::format(", {}/{}: {} {}", position + 1, positions, pattern_name_, label(what));
  fmt::print(stderr, "\r\x1b[K{:.{}}", line, progress_width);
  std::fflush(stderr);
  line_shown_ = true;
}

void recorder::clear_progress() {
  if (!line_shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  line_shown_ = false;
}

void recorder::sample(const variant& what, int repetition, std::size_t position,
                      const bench::repetition& seconds) {
  json record{{"record", "sample"},
              {"pattern", pattern_name_},
              {"variant", what},
              {"repetition", repetition},
              {"position", position}};
  record["seconds"] = {{"max", seconds.max}, {"median", seconds.median}, {"min", seconds.min}};
  if (!seconds.phases.empty()) record["phases"] = by_name(seconds.phases);
  file_.write(record);
}

void recorder::result(const variant_result& what) {
  json record{{"record", "result"}, {"pattern", pattern_name_}, {"variant", what.what}};
  record["verified"] = what.verified ? json(*what.verified) : json(nullptr);
  record["repetitions"] = what.repetitions;
  record["iterations"] = what.iterations;
  record["made"] = what.made_once ? "once" : "each repetition";
  record["seconds"] = {
      {"median", what.seconds.median}, {"p10", what.seconds.p10}, {"p90", what.seconds.p90}};
  if (what.probe_seconds) record["pulse_seconds"] = *what.probe_seconds;
  if (!what.seconds.phases.empty()) record["phases"] = by_name(what.seconds.phases);
  if (!what.least_of_phases.empty()) record["phases_least"] = by_name(what.least_of_phases);
  record["traffic"] = {{"messages", what.moved.messages},
                       {"payload_bytes", what.moved.payload_bytes},
                       {"wire_bytes", what.moved.wire_bytes},
                       {"offnode_bytes", what.moved.offnode_bytes}};
  record["metrics"] = metrics_object(what.metrics);
  for (const auto& [name, fact] : what.facts.items()) record[name] = fact;
  if (!what.warning.empty()) record["warning"] = what.warning;
  file_.write(record);
  rows_.emplace_back(what);
}

void recorder::skipped(const skipped_variant& what) {
  file_.write({{"record", "result"},
               {"pattern", pattern_name_},
               {"variant", what.what},
               {"skipped", what.why}});
  rows_.emplace_back(what);
}

json end_record(const sweep_outcome& outcome) {
  return {{"record", "end"},
          {"status", "ok"},
          {"results", outcome.ran},
          {"wrong", outcome.wrong},
          {"skipped", outcome.skipped}};
}

json failed_record(const char* kind, const char* message) {
  return {
      {"record", "end"}, {"status", "failed"}, {"error", {{"kind", kind}, {"message", message}}}};
}

}  // namespace longshore::bench
