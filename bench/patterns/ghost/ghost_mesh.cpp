// Every rank makes its own part. For placement auto, the ranks first gather how many ghosts each
// part needs of each other part.
#include "patterns/ghost/ghost_mesh.hpp"

#include "patterns/memory_check.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/graph_placement.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace longshore::bench {
namespace {

constexpr double cache_line_bytes = 64;

// Collective. Returns an edge for each pair of parts with ghosts. Rank r passes part r of the mesh.
std::vector<graph_edge> gather_edges(team& ranks, const mesh_part& part) {
  std::vector<graph_edge> mine;
  for (const auto& ghost : part.ghosts) {
    if (mine.empty() || mine.back().to != ghost.rank)
      mine.push_back({.from = ranks.rank(), .to = ghost.rank, .weight = 0});
    ++mine.back().weight;
  }
  const auto most = static_cast<std::size_t>(
      ranks.allreduce_value(static_cast<std::int64_t>(mine.size()), reduction::max));
  mine.resize(most, {.from = ranks.rank(), .to = ranks.rank(), .weight = 0});
  std::vector<graph_edge> all(most * static_cast<std::size_t>(ranks.size()));
  ranks.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  return all;
}

// Collective. The part of each rank.
std::vector<int> parts_of_ranks(team& ranks, const std::string& placement, std::uint64_t seed,
                                const mesh_part& own) {
  std::vector<int> parts(static_cast<std::size_t>(ranks.size()));
  std::iota(parts.begin(), parts.end(), 0);
  if (placement == "random") {
    random_stream random(seed);
    shuffle(std::span(parts), random);
  }
  if (placement == "auto") {
    std::vector<int> nodes;
    for (int rank = 0; rank < ranks.size(); ++rank) nodes.push_back(ranks.nodes().node_of(rank));
    parts = place_graph(gather_edges(ranks, own), nodes);
  }
  return parts;
}

// The bytes of the cache lines that hold the needed elements. REQUIRES: the ghosts of one owner are
// in ascending order.
double line_bytes_of_elements(std::span<const location> ghosts, std::size_t element_bytes) {
  constexpr auto line = static_cast<std::uint64_t>(cache_line_bytes);
  std::uint64_t lines = 0, next = 0;  // the first line that is not counted yet
  int owner = -1;
  for (const auto& ghost : ghosts) {
    if (ghost.rank != owner) next = 0;
    owner = ghost.rank;
    const std::uint64_t first = ghost.offset * element_bytes / line,
                        end = ((ghost.offset + 1) * element_bytes - 1) / line + 1;
    lines += end - std::min(end, std::max(first, next));
    next = end;
  }
  return cache_line_bytes * static_cast<double>(lines);
}

}  // namespace

ghost_mesh::ghost_mesh(team& ranks, const json& levels, std::uint64_t seed,
                       std::size_t element_bytes)
    : part_number(ranks.rank()) {
  const auto number = [&](const char* name) {
    return levels.contains(name) ? levels.at(name).get<double>() : 0;
  };
  constexpr double bytes_per_ghost = 64;  // while a part is made
  check_memory(ranks, "the mesh",
               number("elements") * sizeof(std::uint32_t) + number("ghosts") * bytes_per_ghost);
  const auto make_part = [&] {
    agree_on_errors(ranks, "the mesh",
                    [&] { part = part_of(levels, seed, part_number, ranks.size()); });
  };
  make_part();
  all_ghosts = ranks.allreduce_value(static_cast<double>(part.ghosts.size()), reduction::sum);
  if (all_ghosts == 0)
    fail(errc::usage, "no part of this mesh has ghosts, so there is nothing to exchange");

  const auto parts = parts_of_ranks(ranks, levels.at("placement").get<std::string>(), seed, part);
  part_number = parts[static_cast<std::size_t>(ranks.rank())];
  if (ranks.allreduce_value(part_number != ranks.rank() ? 1 : 0, reduction::max) == 1) make_part();
  std::vector<int> rank_of(parts.size());
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    rank_of[static_cast<std::size_t>(parts[rank])] = static_cast<int>(rank);
  owners = part.ghosts;
  double offnode = 0;
  for (auto& owner : owners) {
    owner.rank = rank_of[static_cast<std::size_t>(owner.rank)];
    offnode += ranks.nodes().is_local(owner.rank) ? 0 : 1;
  }
  offnode_fraction = ranks.allreduce_value(offnode, reduction::sum) / all_ghosts;
  element_line_bytes =
      ranks.allreduce_value(line_bytes_of_elements(part.ghosts, element_bytes), reduction::sum);
  const double ghost_bytes =
      static_cast<double>(part.ghosts.size()) * static_cast<double>(element_bytes);
  ghost_line_bytes = ranks.allreduce_value(
      cache_line_bytes * std::ceil(ghost_bytes / cache_line_bytes), reduction::sum);
}

}  // namespace longshore::bench
