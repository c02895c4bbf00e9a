#include "facts/rank_places.hpp"

#include <longshore/machine/affinity.hpp>

#include "facts/binding.hpp"
#include "facts/system.hpp"

#include <algorithm>
#include <cstdint>

namespace longshore::bench {
namespace {

// The texts of all ranks on rank 0, of any lengths; nothing on the others. Collective. Usually all
// ranks have the same text, and only that one travels.
std::vector<std::string> gather_texts(team& team, const std::string& mine) {
  const bool first = team.rank() == 0;
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto longest = static_cast<std::size_t>(team.allreduce_value(
                           static_cast<std::int64_t>(mine.size()), reduction::max)) +
                       1;
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

}  // namespace

rank_places find_rank_places(team& team, std::span<const int> cpus_at_start) {
  rank_places places;
  std::vector<int> ranks_on;  // each host
  for (const std::string& host : gather_texts(team, host_name())) {
    const auto known = static_cast<std::size_t>(
        std::find(places.hosts.begin(), places.hosts.end(), host) - places.hosts.begin());
    if (known == places.hosts.size()) {
      places.hosts.push_back(host);
      ranks_on.push_back(0);
    }

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

}  // namespace longshore::bench
