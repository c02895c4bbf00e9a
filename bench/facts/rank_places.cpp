// Collects hosts, cores and bindings of all ranks on rank 0. Texts are usually equal on all ranks,
// and then cost little traffic.
#include "facts/rank_places.hpp"

#include <longshore/machine/affinity.hpp>

#include "facts/binding.hpp"
#include "facts/system.hpp"

#include <algorithm>
#include <cstdint>

namespace longshore::bench {
namespace {

// Collective. Returns the texts of all ranks on rank 0, and nothing on other ranks. Texts may have
// any length. If all texts are equal, only the text of rank 0 is sent.
std::vector<std::string> gather_texts(team& team, const std::string& mine) {
  const bool first = team.rank() == 0;
  const auto ranks = static_cast<std::size_t>(team.size());
  const auto max_size = static_cast<std::size_t>(team.allreduce_value(
                            static_cast<std::int64_t>(mine.size()), reduction::max)) +
                        1;
  // All texts get the same size, for allgather. At least one zero ends each text.
  std::string padded = mine;
  padded.resize(max_size, '\0');
  std::string of_rank_0 = padded;
  team.broadcast(std::as_writable_bytes(std::span(of_rank_0)), 0);
  if (team.allreduce_value(of_rank_0 == padded ? 1 : 0, reduction::min) == 1)
    return std::vector<std::string>(first ? ranks : 0, mine);
  std::vector<char> characters(max_size * ranks);
  team.allgather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(characters)));
  std::vector<std::string> texts;
  for (std::size_t r = 0; first && r < ranks; ++r)
    texts.emplace_back(characters.data() + r * max_size);
  return texts;
}

}  // namespace

rank_places find_rank_places(team& team, std::span<const int> cpus_at_start) {
  rank_places places;
  std::vector<int> ranks_on_host;  // by position in places.hosts
  for (const std::string& host : gather_texts(team, host_name())) {
    const auto known = static_cast<std::size_t>(
        std::find(places.hosts.begin(), places.hosts.end(), host) - places.hosts.begin());
    if (known == places.hosts.size()) {
      places.hosts.push_back(host);
      ranks_on_host.push_back(0);
    }
    places.max_ranks_on_host = std::max(places.max_ranks_on_host, ++ranks_on_host[known]);
  }
  places.max_ranks_on_host = team.broadcast_value(places.max_ranks_on_host);
  places.core_of = team.allgather_value(bound_core());
  if (team.rank() != 0) places.core_of = {};
  const auto cpus = allowed_cpus();
  places.binding = gather_texts(team, binding_word(this_host(), cpus));
  places.bound_by = gather_texts(team, bench::bound_by(this_host(), cpus_at_start, cpus));
  places.cpus = gather_texts(team, cpu_list(cpus));
  return places;
}

}  // namespace longshore::bench
