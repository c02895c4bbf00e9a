// Collects facts of the folder facts/ into the launch record, and adds its name and time.
#include "records/launch_record.hpp"

#include "facts/binding.hpp"
#include "facts/environment.hpp"
#include "facts/program.hpp"
#include "facts/system.hpp"

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

// A unique name; names are ordered by time.
std::string launch_id() {
  std::random_device random;
  return fmt::format("{}-{:08x}", utc("%Y%m%dT%H%M%SZ"), random());
}

json rank_map(const team& team, const rank_places& places) {
  json map = json::array();
  for (int rank = 0; rank < team.size(); ++rank) {
    const int core = places.core_of[static_cast<std::size_t>(rank)];
    map.push_back({rank, team.nodes().node_of(rank), core < 0 ? json(nullptr) : json(core)});
  }
  return map;
}

// The word of all ranks, or "mixed" if words differ.
std::string common_word(const std::vector<std::string>& words) {
  const bool same = std::all_of(words.begin(), words.end(),
                                [&](const auto& word) { return word == words.front(); });
  return same ? words.front() : "mixed";
}

}  // namespace

json launch_record(const team& team, const sweep_options& options, const rank_places& places,
                   const clock_facts& clock, const process_facts& process) {
  json record{{"record", "launch"},
              {"schema", 1},
              {"launch", launch_id()},
              {"start", utc("%Y-%m-%dT%H:%M:%SZ")}};
  record["argv"] = process.command_line;
  record["seed"] = options.seed;
  record["program"] = program_facts();
  record["system"] = system_facts();
  record["system"]["usable_cores"] = process.usable_cores;
  record["system"]["topology"] = this_host().description();
  record["transport"] = {{"name", team.transport_name()},
                         {"library", text_or_null(team.library_version())}};
  record["ranks"] = team.size();
  record["nodes"] = team.nodes().node_count();
  record["nodes_virtual"] = team.nodes().is_virtual();
  record["hosts"] = places.hosts;
  record["map"] = rank_map(team, places);
  record["binding"] = common_word(places.binding);
  record["binding_by"] = common_word(places.bound_by);
  record["cpus"] = places.cpus;
  record["clock"] = {{"resolution_seconds", clock.resolution_seconds},
                     {"overhead_seconds", clock.overhead_seconds}};
  record["repetitions"] = options.repetitions;
  record["warmup"] = options.warmup;
  record["shuffled"] = options.shuffle;
  record["verify"] = verification_names[static_cast<std::size_t>(options.verify)];
  record["timeout_seconds"] = team.waiting().timeout_seconds;
  record["environment"] = recorded_environment(environ);
  record["modules"] = loaded_modules();
  return record;
}

}  // namespace longshore::bench
