// Describes a binding by comparing the CPUs that a process may use with the objects of the host
// (cores, caches, NUMA domains, sockets). Used for the launch record, --list and placements.
#include "facts/binding.hpp"

#include <longshore/machine/affinity.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {

const topology& this_host() {
  static const topology host = topology_of_this_machine();
  return host;
}

std::string cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (first > 0) text += ',';
    text += last == first ? fmt::format("{}", cpus[first])
                          : fmt::format("{}-{}", cpus[first], cpus[last]);
    first = last + 1;
  }
  return text;
}

std::string binding_word(const topology& host, std::span<const int> cpus) {
  const std::string object = host.innermost_level_holding(cpus);
  if (object == "hwthread" || object == "core") return "core";
  if (cpus.size() >= host.cpus().size()) return "none";
  return object.empty() ? "cpus" : object;
}

std::string bound_by(const topology& host, std::span<const int> at_start,
                     std::span<const int> now) {
  if (now.size() < at_start.size()) return "longshore";
  return now.size() < host.cpus().size() ? "launcher" : "none";
}

json binding_listing() {
  const auto cpus = allowed_cpus();
  run_options options;
  read_pinning(options, true);  // as command_line.cpp does for the ranks: pinned by default
  const bool pins = options.pin;
  return {{"process", binding_word(this_host(), cpus)},
          {"by", bound_by(this_host(), cpus, cpus)},
          {"cpus", cpu_list(cpus)},
          {"ranks", pins ? "core" : binding_word(this_host(), cpus)},
          {"ranks_by", pins ? "longshore" : bound_by(this_host(), cpus, cpus)},
          {"most_bound_ranks", pins ? json(usable_cores()) : json(nullptr)}};
}

json topology_listing() {
  json levels = json::array();
  for (const auto& level : this_host().levels())
    levels.push_back({{"name", level.name}, {"count", level.count}});
  return {{"description", this_host().description()},
          {"levels", std::move(levels)},
          {"why_little", text_or_null(this_host().why_cores_only())}};
}

}  // namespace longshore::bench
