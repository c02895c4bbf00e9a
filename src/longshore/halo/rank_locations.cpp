// Gathers on which socket, NUMA node and l3 cache each rank runs, counts these objects per level,
// and numbers the ranks along the hardware.
#include <longshore/halo/rank_locations.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace longshore {
namespace {

// The levels between node and core: socket, numa, l3. location_levels[i + 1] is inner level i.
constexpr std::size_t inner_levels = 3;
static_assert(inner_levels + 2 == location_levels.size());

// The location of one rank, as the rank sends it to all ranks.
struct rank_location {
  // The number of the rank's object at each inner level; negative if the rank may run on CPUs of
  // several objects.
  std::array<int, inner_levels> object{-1, -1, -1};
  int first_cpu = 0;  // index in topology::cpus()
  int is_bound = 0;   // 0 or 1
};

rank_location location_on(const topology& host, std::span<const int> cpus) {
  rank_location location;
  location.is_bound = 1;
  location.object.fill(0);  // a level that the host does not report counts as one object
  for (std::size_t i = 0; i < inner_levels; ++i)
    for (std::size_t l = 0; l < host.levels().size(); ++l)
      if (host.levels()[l].name == location_levels[i + 1])
        location.object[i] = host.object_holding(l, cpus);
  const auto host_cpus = host.cpus();
  const auto first =
      std::find_first_of(host_cpus.begin(), host_cpus.end(), cpus.begin(), cpus.end());
  location.first_cpu = static_cast<int>(first - host_cpus.begin());
  return location;
}

// Groups of ranks: first the nodes, then their sockets, and so on.
struct grouping {
  std::vector<int> group_of;  // indexed by rank
  int count = 0;
};

// Splits groups by the objects of their ranks. The new groups are numbered in the order of the
// outer group and the object.
grouping split(const grouping& outer, const std::vector<int>& object_of) {
  std::map<std::pair<int, int>, int> inner_group_of;
  for (std::size_t r = 0; r < object_of.size(); ++r)
    inner_group_of[{outer.group_of[r], object_of[r]}] = 0;
  grouping inner;
  for (auto& [outer_and_object, group] : inner_group_of) group = inner.count++;
  for (std::size_t r = 0; r < object_of.size(); ++r)
    inner.group_of.push_back(inner_group_of[{outer.group_of[r], object_of[r]}]);
  return inner;
}

std::vector<int> ranks_in(const grouping& groups) {
  std::vector<int> counts(static_cast<std::size_t>(groups.count), 0);
  for (const int group : groups.group_of) ++counts[static_cast<std::size_t>(group)];
  return counts;
}

bool all_equal(const std::vector<int>& counts) {
  return std::all_of(counts.begin(), counts.end(), [&](int n) { return n == counts.front(); });
}

// The lowest and the highest count, such as "2 and 3".
std::string range_of(const std::vector<int>& counts) {
  const auto [lowest, highest] = std::minmax_element(counts.begin(), counts.end());
  return fmt::format("{} and {}", *lowest, *highest);
}

// Splits equal nodes by one level after another, until a level cannot be used, and counts the
// objects of each level. `ranks` is indexed by rank.
void split_by_levels(grouping& groups, const std::vector<rank_location>& ranks,
                     rank_locations& locations) {
  locations.levels.front().count = groups.count;
  for (std::size_t i = 0; i < inner_levels; ++i) {
    const auto name = location_levels[i + 1];
    std::vector<int> objects;
    for (const auto& rank : ranks) objects.push_back(rank.object[i]);
    if (std::any_of(objects.begin(), objects.end(), [](int object) { return object < 0; })) {
      const bool any_unbound = std::any_of(ranks.begin(), ranks.end(),
                                           [](const auto& rank) { return rank.is_bound == 0; });
      locations.note =
          any_unbound ? "ranks are not bound: their order on the node is used"
                      : fmt::format("ranks are not bound within one {}: their order is used", name);
      break;
    }
    grouping inner = split(groups, objects);
    if (const auto counts = ranks_in(inner); !all_equal(counts)) {
      locations.note = fmt::format("{} objects have between {} ranks: their order is used", name,
                                   range_of(counts));
      break;
    }
    locations.levels[i + 1].count = inner.count / groups.count;
    groups = std::move(inner);
  }
  locations.levels.back().count = static_cast<int>(ranks.size()) / groups.count;
}

rank_locations arrange(const team& team, const std::vector<rank_location>& ranks) {
  rank_locations locations;
  grouping groups{{}, team.nodes().node_count()};
  for (int rank = 0; rank < team.size(); ++rank)
    groups.group_of.push_back(team.nodes().node_of(rank));
  for (const auto name : location_levels) locations.levels.push_back({std::string(name), 1});
  if (const auto counts = ranks_in(groups); all_equal(counts)) {
    split_by_levels(groups, ranks, locations);
  } else {
    locations.even = false;
    locations.note = fmt::format("nodes have between {} ranks", range_of(counts));
    locations.levels.back().count = team.size();
  }

  std::vector<std::size_t> rank_at(ranks.size());
  std::iota(rank_at.begin(), rank_at.end(), 0);
  std::sort(rank_at.begin(), rank_at.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(groups.group_of[a], ranks[a].first_cpu, a) <
           std::tuple(groups.group_of[b], ranks[b].first_cpu, b);
  });
  locations.position_of.resize(ranks.size());
  for (std::size_t p = 0; p < ranks.size(); ++p)
    locations.position_of[rank_at[p]] = static_cast<int>(p);
  return locations;
}

}  // namespace

std::size_t rank_locations::level_between(const node_map& nodes, int rank,
                                          int other_rank) const noexcept {
  if (nodes.node_of(rank) != nodes.node_of(other_rank)) return 0;
  if (!even) return levels.size() - 1;
  const int position = position_of[static_cast<std::size_t>(rank)];
  const int other_position = position_of[static_cast<std::size_t>(other_rank)];
  int ranks_in_object = static_cast<int>(position_of.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    ranks_in_object /= levels[l].count;
    if (position / ranks_in_object != other_position / ranks_in_object) return l;
  }
  return levels.size() - 1;
}

rank_locations find_rank_locations(team& team) {
  const auto cpus = allowed_cpus();
  // A rank that may use all CPUs is not bound, and needs no topology.
  const bool bound = static_cast<long>(cpus.size()) < sysconf(_SC_NPROCESSORS_ONLN);
  return arrange(team, team.allgather_value(bound ? location_on(topology_of_this_machine(), cpus)
                                                  : rank_location{}));
}

rank_locations find_rank_locations(team& team, const topology& host) {
  return find_rank_locations(team, host, [&](int /*rank*/) {
    auto cpus = allowed_cpus();
    if (cpus.size() >= host.cpus().size()) cpus.clear();  // not bound
    return cpus;
  });
}

rank_locations find_rank_locations(team& team, const topology& host, const binding_reader& bound) {
  const auto cpus = bound(team.rank());
  return arrange(team,
                 team.allgather_value(cpus.empty() ? rank_location{} : location_on(host, cpus)));
}

}  // namespace longshore
