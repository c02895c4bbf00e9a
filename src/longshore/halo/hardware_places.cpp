#include <longshore/halo/hardware_places.hpp>

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

// What a rank tells the others. An object is negative where the rank may run on CPUs of several.
struct place {
  std::array<int, inner_levels> object{-1, -1, -1};
  int order = 0;  // of its first CPU along the hardware
  int bound = 0;
};

place place_on(const topology& host, std::span<const int> cpus) {
  place mine;
  mine.bound = 1;
  mine.object.fill(0);  // a level of which nothing is known is one object
  for (std::size_t i = 0; i < inner_levels; ++i)
    for (std::size_t l = 0; l < host.levels().size(); ++l)
      if (host.levels()[l].name == places_levels[i + 1])
        mine.object[i] = host.object_holding(l, cpus);
  const auto all = host.cpus();
  const auto first = std::find_if(all.begin(), all.end(), [&](int cpu) {
    return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
  });
  mine.order = static_cast<int>(first - all.begin());
  return mine;
}

// Groups of ranks, by rank: numbered in the order of their node and objects. One more level cuts
// each group.
struct grouping {
  std::vector<int> group_of;
  int count = 0;
};

grouping cut(const grouping& outer, const std::vector<int>& label_of) {
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

// "2 and 3": the least and the most.
std::string range_of(const std::vector<int>& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return fmt::format("{} and {}", *least, *most);
}

hardware_places arrange(const team& team, const std::vector<place>& all) {
  const auto size = static_cast<std::size_t>(team.size());
  hardware_places places;
  grouping groups{{}, team.nodes().node_count()};
  for (int rank = 0; rank < team.size(); ++rank)
    groups.group_of.push_back(team.nodes().node_of(rank));
  for (const auto name : places_levels) places.levels.push_back({std::string(name), 1});

  if (const auto counts = ranks_in(groups); !all_equal(counts)) {
    places.even = false;
    places.note = fmt::format("nodes have between {} ranks", range_of(counts));
    places.levels.back().count = team.size();
  } else {
    places.levels.front().count = groups.count;
    for (std::size_t i = 0; i < inner_levels; ++i) {
      std::vector<int> labels(size);
      for (std::size_t r = 0; r < size; ++r) labels[r] = all[r].object[i];
      if (std::any_of(labels.begin(), labels.end(), [](int object) { return object < 0; })) {
        const bool any_free =
            std::any_of(all.begin(), all.end(), [](const place& one) { return one.bound == 0; });
        places.note = any_free
                          ? "ranks are not bound: their order on the node is taken"
                          : fmt::format("ranks are not bound within one {}: their order is taken",
                                        places_levels[i + 1]);
        break;
      }
      grouping inner = cut(groups, labels);
      if (const auto held = ranks_in(inner); !all_equal(held)) {
        places.note = fmt::format("{} objects have between {} ranks: their order is taken",
                                  places_levels[i + 1], range_of(held));
        break;
      }
      places.levels[i + 1].count = inner.count / groups.count;
      groups = std::move(inner);
    }
    places.levels.back().count = team.size() / groups.count;
  }

  std::vector<int> rank_at(size);
  std::iota(rank_at.begin(), rank_at.end(), 0);
  std::stable_sort(rank_at.begin(), rank_at.end(), [&](int a, int b) {
    const auto key = [&](int r) {
      return std::pair(groups.group_of[static_cast<std::size_t>(r)],
                       all[static_cast<std::size_t>(r)].order);
    };
    return key(a) < key(b);
  });
  places.position_of.resize(size);
  for (std::size_t p = 0; p < size; ++p)
    places.position_of[static_cast<std::size_t>(rank_at[p])] = static_cast<int>(p);
  return places;
}

}  // namespace

std::size_t hardware_places::level_between(const node_map& nodes, int one,
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

hardware_places find_hardware_places(team& team) {
  const auto cpus = allowed_cpus();
  // All CPUs of the host are no binding, and then nothing needs to be read.
  const bool bound = static_cast<long>(cpus.size()) < sysconf(_SC_NPROCESSORS_ONLN);
  return arrange(
      team, team.allgather_value(bound ? place_on(topology_of_this_machine(), cpus) : place{}));
}

hardware_places find_hardware_places(team& team, const topology& host) {
  return find_hardware_places(team, host, [&](int /*rank*/) {
    auto cpus = allowed_cpus();
    if (cpus.size() >= host.cpus().size()) cpus.clear();  // all of them are no binding
    return cpus;
  });
}

hardware_places find_hardware_places(team& team, const topology& host,
                                     const binding_reader& bound) {
  const auto cpus = bound(team.rank());
  return arrange(team, team.allgather_value(cpus.empty() ? place{} : place_on(host, cpus)));
}

}  // namespace longshore
