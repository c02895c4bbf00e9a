#include "launch_record.hpp"

#include <longshore/machine/affinity.hpp>

#include "binding.hpp"
#include "environment_facts.hpp"
#include "program_facts.hpp"
#include "system_facts.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>

namespace longshore::bench {
namespace {

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

// Unlike the ID of any other launch, and in order of time.
std::string launch_id() {
  std::random_device random;
  return fmt::format("{}-{:08x}", utc("%Y%m%dT%H%M%SZ"), random());
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json rank_map(const team& team, const rank_places& places) {
  json map = json::array();
  for (int rank = 0; rank < team.size(); ++rank) {
    const int core = places.core_of[static_cast<std::size_t>(rank)];
    map.push_back({rank, team.nodes().node_of(rank), core < 0 ? json(nullptr) : json(core)});
  }
  return map;
}

// On rank 0 the texts of all ranks, whatever their lengths; nothing on the others. Collective. Mostly all ranks have one text: then it
// alone travels.
std::vector<std::string> gather_texts(team& team, const std::string& mine) {
  const bool first = team.rank() == 0;
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto longest = static_cast<std::size_t>(team.allreduce_value(static_cast<std::int64_t>(mine.size()), reduction::max)) + 1;
  std::string padded = mine;
  padded.resize(longest, '\0');
  std::string of_first = padded;
  team.broadcast(std::as_writable_bytes(std::span(of_first)), 0);
  if (team.allreduce_value(of_first == padded ? 1 : 0, reduction::min) == 1)
    return std::vector<std::string>(first ? ranks : 0, mine);
  std::vector<char> all(longest * ranks);
  team.allgather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t r = 0; first && r < ranks; ++r) texts.emplace_back(all.data() + r * longest);
  return texts;
}

// What is the same for all ranks, else "mixed".
std::string common_word(const std::vector<std::string>& words) {
  const bool same = std::all_of(words.begin(), words.end(), [&](const auto& word) { return word == words.front(); });
  return same ? words.front() : "mixed";
}

}  // namespace

rank_places find_places(team& team, std::span<const int> cpus_at_start) {
  rank_places places;
  std::vector<int> ranks_on;  // each host
  for (const std::string& host : gather_texts(team, host_name())) {
    const auto known = static_cast<std::size_t>(std::find(places.hosts.begin(), places.hosts.end(), host) - places.hosts.begin());
    if (known == places.hosts.size()) {
      places.hosts.push_back(host);
      ranks_on.push_back(0);
    }
    places.host_of.push_back(static_cast<int>(known));
    places.most_ranks_on_a_host = std::max(places.most_ranks_on_a_host, ++ranks_on[known]);
  }
  places.most_ranks_on_a_host = team.broadcast_value(places.most_ranks_on_a_host);
  places.core_of = team.allgather_value(bound_core());
  const auto cpus = allowed_cpus();
  places.binding = gather_texts(team, binding_word(this_host(), cpus));
  places.bound_by = gather_texts(team, bench::bound_by(this_host(), cpus_at_start, cpus));
  places.cpus = gather_texts(team, cpu_list(cpus));
  return places;
}

json launch_record(const team& team, const request& asked, const rank_places& places, const clock_facts& clock,
                   const process_facts& process) {
  json record{{"record", "launch"}, {"schema", 1}, {"launch", launch_id()}, {"start", utc("%Y-%m-%dT%H:%M:%SZ")}};
  record["argv"] = process.command_line;
  record["seed"] = asked.how.seed;
  record["program"] = program_facts();
  record["system"] = system_facts();
  record["system"]["usable_cores"] = process.usable_cores;
  record["system"]["topology"] = this_host().description();
  record["transport"] = {{"name", team.transport_name()}, {"library", text_or_null(team.library_version())}};
  record["ranks"] = team.size();
  record["nodes"] = team.nodes().node_count();
  record["nodes_virtual"] = team.nodes().is_virtual();
  record["hosts"] = places.hosts;
  record["map"] = rank_map(team, places);
  record["binding"] = common_word(places.binding);
  record["binding_by"] = common_word(places.bound_by);
  record["cpus"] = places.cpus;
  record["clock"] = {{"resolution_seconds", clock.resolution_seconds}, {"overhead_seconds", clock.overhead_seconds}};
  record["repetitions"] = asked.how.repetitions;
  record["warmup"] = asked.how.warmup;
  record["shuffled"] = asked.how.shuffle;
  record["timeout_seconds"] = team.waiting().timeout_seconds;
  record["environment"] = recorded_environment(environ);
  record["modules"] = loaded_modules();
  return record;
}

}  // namespace longshore::bench
