// Makes the records `sample`, `result` and `end`, and shows the progress in one line of the
// terminal.
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

json by_name(const phase_seconds& phases) {
  json object = json::object();
  for (const auto& [name, seconds] : phases) object[name] = seconds;
  return object;
}

json metrics_object(const std::vector<metric>& metrics) {
  json object = json::object();
  for (const auto& metric : metrics) {
    json& figure = object[metric.name] = {{"value", metric.value},
                                          {"unit", metric.unit},
                                          {"better", metric.higher_is_better ? "higher" : "lower"}};
    if (!metric.per.empty()) figure["per"] = metric.per;
  }
  return object;
}

}  // namespace

recorder::recorder(std::string pattern_name, record_file& file, bool show_progress)
    : pattern_name_(std::move(pattern_name)),
      file_(file),
      on_terminal_(show_progress && isatty(STDERR_FILENO) != 0) {}

recorder::~recorder() { clear_progress(); }

void recorder::visit(int round, int rounds, std::size_t position, std::size_t positions,
                     const variant& levels) {
  if (!on_terminal_) return;
  const double now = monotonic_seconds();
  if (now - last_shown_ < seconds_between_progress) return;
  last_shown_ = now;
  std::string line = round < 0 ? "preparing" : fmt::format("round {}/{}", round + 1, rounds);
  line += fmt::format(", {}/{}: {} {}", position + 1, positions, pattern_name_, label(levels));
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

void recorder::sample(const variant& levels, int repetition, std::size_t position,
                      const bench::repetition& seconds) {
  json record{{"record", "sample"},
              {"pattern", pattern_name_},
              {"variant", levels},
              {"repetition", repetition},
              {"position", position}};
  record["seconds"] = {{"max", seconds.max}, {"median", seconds.median}, {"min", seconds.min}};
  if (!seconds.phases.empty()) record["phases"] = by_name(seconds.phases);
  if (seconds.real_seconds > 0) {
    record["real_seconds"] = seconds.real_seconds;
    record["events"] = seconds.events;
  }
  file_.write(record);
}

void recorder::result(const variant_result& measured) {
  json record{{"record", "result"}, {"pattern", pattern_name_}, {"variant", measured.levels}};
  record["verified"] = measured.verified ? json(*measured.verified) : json(nullptr);
  record["repetitions"] = measured.repetitions;
  record["iterations"] = measured.iterations;
  record["made"] = measured.made_once ? "once" : "each repetition";
  record["seconds"] = {{"median", measured.seconds.median},
                       {"p10", measured.seconds.p10},
                       {"p90", measured.seconds.p90}};
  if (measured.probe_seconds) record["pulse_seconds"] = *measured.probe_seconds;
  if (measured.cache_line)
    record["cache_line_seconds"] = {{"median", measured.cache_line->median},
                                    {"p10", measured.cache_line->p10},
                                    {"p90", measured.cache_line->p90}};
  if (!measured.seconds.phases.empty()) record["phases"] = by_name(measured.seconds.phases);
  if (!measured.median_phase_minima.empty())
    record["phases_least"] = by_name(measured.median_phase_minima);
  if (!measured.median_phase_means.empty())
    record["phases_mean"] = by_name(measured.median_phase_means);
  record["traffic"] = {{"messages", measured.moved.messages},
                       {"payload_bytes", measured.moved.payload_bytes},
                       {"wire_bytes", measured.moved.wire_bytes},
                       {"offnode_bytes", measured.moved.offnode_bytes}};
  record["metrics"] = metrics_object(measured.metrics);
  for (const auto& [name, fact] : measured.facts.items()) record[name] = fact;
  if (!measured.warning.empty()) record["warning"] = measured.warning;
  file_.write(record);
  rows_.emplace_back(measured);
}

void recorder::skipped(const skipped_variant& skip) {
  file_.write({{"record", "result"},
               {"pattern", pattern_name_},
               {"variant", skip.levels},
               {"skipped", skip.reason}});
  rows_.emplace_back(skip);
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
