#include <longshore/halo/rank_locations.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace longshore {
namespace {

constexpr std::size_t inner_levels = 3;  // socket, numa, l3

// The location of one rank, as it is sent to the others. An object is negative if the rank may run
// on CPUs of several objects.
struct rank_location {
  std::array<int, inner_levels> object{-1, -1, -1};
  int order = 0;  // index of its first CPU along the hardware
  int bound = 0;  // 1 if it is bound
};

rank_location location_on(const topology& host, std::span<const int> cpus) {
  rank_location mine;
  mine.bound = 1;
  mine.object.fill(0);  // an unknown level counts as one object
  for (std::size_t i = 0; i < inner_levels; ++i)
    for (std::size_t l = 0; l < host.levels().size(); ++l)
      if (host.levels()[l].name == location_levels[i + 1])
        mine.object[i] = host.object_holding(l, cpus);
  const auto all = host.cpus();
  const auto first = std::find_if(all.begin(), all.end(), [&](int cpu) {
    return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  });
  mine.order = static_cast<int>(first - all.begin());
  return mine;
}

// Groups of ranks, numbered in the order of their node and objects. Each inner level splits the
// groups.
struct grouping {
  std::vector<int> group_of;
  int count = 0;
};

grouping split(const grouping& outer, const std::vector<int>& label_of) {
  std::set<std::pair<int, int>> different;
  for (std::size_t r = 0; r < label_of.size(); ++r)
    different.emplace(outer.group_of[r], label_of[r]);
  const std::vector<std::pair<int, int>> sorted(different.begin(), different.end());
  grouping inner{{}, static_cast<int>(sorted.size())};
  for (std::size_t r = 0; r < label_of.size(); ++r) {
    const auto at =
        std::lower_bound(sorted.begin(), sorted.end(), std::pair(outer.group_of[r], label_of[r]));
    inner.group_of.push_back(static_cast<int>(at - sorted.begin()));
  }
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

// Least and most, such as "2 and 3".
std::string range_of(const std::vector<int>& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return fmt::format("{} and {}", *least, *most);
}

// Splits the ranks of equal nodes by one level after the other, until a level cannot be used, and
// counts the objects of the levels.
void split_by_levels(grouping& groups, const std::vector<rank_location>& all,
                     rank_locations& locations) {
  locations.levels.front().count = groups.count;
  for (std::size_t i = 0; i < inner_levels; ++i) {
    const auto name = location_levels[i + 1];
    std::vector<int> labels;
    for (const auto& one : all) labels.push_back(one.object[i]);
    if (std::any_of(labels.begin(), labels.end(), [](int object) { return object < 0; })) {
      const bool any_unbound =
          std::any_of(all.begin(), all.end(), [](const auto& one) { return one.bound == 0; });
      locations.note =
          any_unbound ? "ranks are not bound: their order on the node is used"
                      : fmt::format("ranks are not bound within one {}: their order is used", name);
      break;
    }
    grouping inner = split(groups, labels);
    if (const auto counts = ranks_in(inner); !all_equal(counts)) {
      locations.note = fmt::format("{} objects have between {} ranks: their order is used", name,
                                   range_of(counts));
      break;
    }
    locations.levels[i + 1].count = inner.count / groups.count;
    groups = std::move(inner);
  }
  locations.levels.back().count = static_cast<int>(all.size()) / groups.count;
}

rank_locations arrange(const team& team, const std::vector<rank_location>& all) {
  rank_locations locations;
  grouping groups{{}, team.nodes().node_count()};
  for (int rank = 0; rank < team.size(); ++rank)
    groups.group_of.push_back(team.nodes().node_of(rank));
  for (const auto name : location_levels) locations.levels.push_back({std::string(name), 1});
  if (const auto counts = ranks_in(groups); all_equal(counts)) {
    split_by_levels(groups, all, locations);
  } else {
    locations.even = false;
    locations.note = fmt::format("nodes have between {} ranks", range_of(counts));
    locations.levels.back().count = team.size();
  }

  std::vector<std::size_t> rank_at(all.size());
  std::iota(rank_at.begin(), rank_at.end(), 0);
  std::stable_sort(rank_at.begin(), rank_at.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(groups.group_of[a], all[a].order) <
           std::pair(groups.group_of[b], all[b].order);
  });
  locations.position_of.resize(all.size());
  for (std::size_t p = 0; p < all.size(); ++p)
    locations.position_of[rank_at[p]] = static_cast<int>(p);
  return locations;
}

}  // namespace

std::size_t rank_locations::level_between(const node_map& nodes, int one,
                                          int other) const noexcept {
  if (nodes.node_of(one) != nodes.node_of(other)) return 0;
  if (!even) return levels.size() - 1;
  int group = static_cast<int>(position_of.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    group /= levels[l].count;
    if (position_of[static_cast<std::size_t>(one)] / group !=
        position_of[static_cast<std::size_t>(other)] / group)
      return l;
  }
  return levels.size() - 1;
}

rank_locations find_rank_locations(team& team) {
  const auto cpus = allowed_cpus();
  // A rank that may use all CPUs is not bound, and the topology need not be read.
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
