#include "random_inputs.hpp"

#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>

#include "random_bijection.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <tuple>

namespace examples {
namespace {

using requests = std::vector<longshore::addressed<row_entry>>;

// Calls f(j) for each j of [begin, end) with probability p. Draws the gaps between chosen numbers,
// which have a geometric distribution, so the cost depends on the chosen numbers only.
template <class F>
void choose(std::uint64_t begin, std::uint64_t end, double p, longshore::random_stream& random,
            F&& f) {
  if (p <= 0) return;
  for (std::uint64_t j = begin; j < end; ++j) {
    if (p < 1) {
      const double gap = std::floor(std::log1p(-random.uniform()) / std::log1p(-p));
      if (gap >= static_cast<double>(end - j)) return;
      j += static_cast<std::uint64_t>(gap);
    }
    f(static_cast<std::int64_t>(j));
  }
}

double weight_of(std::int64_t a, std::int64_t b, std::uint64_t seed) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b)),
             high = static_cast<std::uint64_t>(std::max(a, b));
  return static_cast<double>((longshore::mix_bits(longshore::mix_bits(seed + low) ^ high) >> 11) +
                             1) *
         0x1.0p-53;
}

void add_edge(const sparse_matrix::row_map& map, std::int64_t a, std::int64_t b, std::uint64_t seed,
              requests& edges) {
  const double weight = weight_of(a, b, seed);
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    const longshore::location at = map.owner_offset(static_cast<std::uint64_t>(from));
    edges.push_back({at.rank, {at.offset, to, weight}});
  }
}

requests random_edges(const longshore::team& team, const sparse_matrix::row_map& map, double degree,
                      std::uint64_t seed) {
  requests edges;
  const double p = degree / std::max<double>(static_cast<double>(map.size()) - 1, 1);
  for (std::uint64_t offset = 0; offset < map.local_size(team.rank()); ++offset) {
    const std::uint64_t row = map.index_of(team.rank(), offset);
    longshore::random_stream random(seed, row);
    choose(0, row, p, random,
           [&](std::int64_t j) { add_edge(map, static_cast<std::int64_t>(row), j, seed, edges); });
  }
  return edges;
}

// Chakrabarti, Zhan and Faloutsos, SDM 2004; the probabilities are those of Graph500.
requests kronecker_edges(const longshore::team& team, const sparse_matrix::row_map& map,
                         double degree, std::uint64_t seed) {
  requests edges;
  const std::uint64_t n = map.size();
  if (n < 2) return edges;
  const random_bijection number_of(n, seed);
  const auto edge_count = static_cast<std::uint64_t>(static_cast<double>(n) * degree / 2);
  const int levels = static_cast<int>(std::bit_width(n - 1));
  for (std::uint64_t e = static_cast<std::uint64_t>(team.rank()); e < edge_count;
       e += static_cast<std::uint64_t>(team.size())) {
    longshore::random_stream random(seed, e);
    std::uint64_t a = 0, b = 0;
    do {
      a = b = 0;
      for (int level = 0; level < levels; ++level) {
        const double u = random.uniform();
        a = 2 * a + (u >= 0.76 ? 1 : 0);
        b = 2 * b + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
      }
    } while (a == b || a >= n || b >= n);
    add_edge(map, number_of(static_cast<std::int64_t>(a)), number_of(static_cast<std::int64_t>(b)),
             seed, edges);
  }
  return edges;
}

// With a grid of cells as wide as the reach, every rank finds the neighbours of its vertices
// without messages.
std::vector<row_entry> geometric_edges(const longshore::team& team,
                                       const sparse_matrix::row_map& map, double degree,
                                       std::uint64_t seed) {
  struct point {
    double x, y;
  };
  const std::uint64_t n = map.size();
  std::vector<point> points(n);
  for (std::uint64_t v = 0; v < n; ++v) {
    longshore::random_stream random(seed, v);
    points[v].x = random.uniform();
    points[v].y = random.uniform();
  }
  const double reach =
      std::sqrt(degree / (std::numbers::pi * std::max(static_cast<double>(n), 1.0)));
  const double max_cells = std::ceil(std::sqrt(static_cast<double>(n)));  // per side
  const auto cells = static_cast<std::int64_t>(
      std::clamp(std::floor(1 / std::max(reach, 1e-9)), 1.0, std::max(max_cells, 1.0)));
  const auto cell_of = [cells](double z) {
    return static_cast<std::int64_t>(z * static_cast<double>(cells));
  };
  std::vector<std::vector<std::uint64_t>> inside(static_cast<std::size_t>(cells * cells));
  for (std::uint64_t v = 0; v < n; ++v)
    inside[cell_of(points[v].x) * cells + cell_of(points[v].y)].push_back(v);

  std::vector<row_entry> edges;
  for (std::uint64_t offset = 0; offset < map.local_size(team.rank()); ++offset) {
    const std::uint64_t v = map.index_of(team.rank(), offset);
    const std::int64_t column = cell_of(points[v].x), row = cell_of(points[v].y);
    for (std::int64_t x = std::max<std::int64_t>(column - 1, 0);
         x <= std::min(column + 1, cells - 1); ++x)
      for (std::int64_t y = std::max<std::int64_t>(row - 1, 0); y <= std::min(row + 1, cells - 1);
           ++y)
        for (const std::uint64_t other : inside[x * cells + y]) {
          const double distance =
              std::hypot(points[v].x - points[other].x, points[v].y - points[other].y);
          if (other != v && distance <= reach)
            edges.push_back(
                {offset, static_cast<std::int64_t>(other), std::clamp(distance, 1e-12, 1.0)});
        }
  }
  return edges;
}

}  // namespace

sparse_matrix random_matrix(const longshore::team& team, std::uint64_t rows, std::uint64_t columns,
                            double row_entries, std::uint64_t seed) {
  const sparse_matrix::row_map map({}, rows, team.size());
  std::vector<row_entry> entries;
  for (std::uint64_t offset = 0; offset < map.local_size(team.rank()); ++offset) {
    longshore::random_stream random(seed, map.index_of(team.rank(), offset));
    choose(0, columns, row_entries / static_cast<double>(std::max<std::uint64_t>(columns, 1)),
           random, [&](std::int64_t j) {
             entries.push_back({offset, j, 1 - random.uniform()});
           });
  }
  return {rows, columns, team.rank(), team.size(), entries};
}

sparse_matrix scrambled_triangular_matrix(const longshore::team& team, std::uint64_t size,
                                          double row_entries, std::uint64_t seed) {
  const sparse_matrix::row_map map({}, size, team.size());
  const random_bijection row_position(size, 2 * seed), column_position(size, 2 * seed + 1);
  const double p = 2 * (row_entries - 1) / std::max<double>(static_cast<double>(size) - 1, 1);
  std::vector<row_entry> entries;
  for (std::uint64_t offset = 0; offset < map.local_size(team.rank()); ++offset) {
    const std::int64_t row =
        row_position.inverse(static_cast<std::int64_t>(map.index_of(team.rank(), offset)));
    entries.push_back({offset, column_position(row), 1});
    longshore::random_stream random(seed, static_cast<std::uint64_t>(row));
    choose(static_cast<std::uint64_t>(row) + 1, size, p, random, [&](std::int64_t j) {
      entries.push_back({offset, column_position(j), 1 - random.uniform()});
    });
  }
  return {size, size, team.rank(), team.size(), entries};
}

sparse_matrix random_graph(longshore::team& team, const std::string& kind, std::uint64_t vertices,
                           double degree, std::uint64_t seed) {
  const sparse_matrix::row_map map({}, vertices, team.size());
  std::vector<row_entry> entries;
  if (kind == "geometric") {
    entries = geometric_edges(team, map, degree, seed);
  } else {
    const requests edges = kind == "kronecker" ? kronecker_edges(team, map, degree, seed)
                                               : random_edges(team, map, degree, seed);
    longshore::conveyor engine(team, {.item_bytes = sizeof(row_entry)});
    longshore::deliver<row_entry>(
        engine, edges.size(), [&](std::size_t i) { return edges[i]; },
        [&](int, const row_entry& e) { entries.push_back(e); });
    const auto position = [](const row_entry& e) { return std::tie(e.offset, e.column); };
    std::sort(entries.begin(), entries.end(),
              [&](const row_entry& a, const row_entry& b) { return position(a) < position(b); });
    entries.erase(std::unique(entries.begin(), entries.end(),
                              [&](const row_entry& a, const row_entry& b) {
                                return position(a) == position(b);
                              }),
                  entries.end());
  }
  return {vertices, vertices, team.rank(), team.size(), entries};
}

std::int64_t chosen_vertex(longshore::team& team, const sparse_matrix& graph,
                           const std::string& asked) {
  if (!asked.empty()) {
    if (std::stoull(asked) >= graph.rows())
      longshore::fail(longshore::errc::usage,
                      "there is no vertex {}: the graph has {} vertices, counted from 0", asked,
                      graph.rows());
    return std::stoll(asked);
  }
  std::size_t first = 0;
  while (first < graph.my_rows() && graph.columns_of(first).empty()) ++first;
  const auto none = static_cast<std::int64_t>(graph.rows());
  const std::int64_t first_of_rank = first < graph.my_rows() ? graph.row_number(first) : none;
  const std::int64_t lowest = team.allreduce_value(first_of_rank, longshore::reduction::min);
  return lowest == none ? 0 : lowest;
}

option row_entries_option() {
  return {.name = "row-entries",
          .value = "10",
          .help = "entries of a row, on average",
          .high = 1e6,
          .is_whole = false};
}

std::vector<option> matrix_options() {
  return {row_entries_option(),
          {.name = "columns",
           .value = "0",
           .help = "columns of the matrix; 0: as many as rows",
           .high = 4294967295.0}};
}

std::vector<option> graph_options(std::vector<option> more) {
  more.insert(more.begin(), {{.name = "graph",
                              .value = "random",
                              .help = "kind of graph",
                              .words = {"random", "geometric", "kronecker"}},
                             {.name = "degree",
                              .value = "10",
                              .help = "edges of a vertex, on average",
                              .high = 1e6,
                              .is_whole = false}});
  return more;
}

sparse_matrix chosen_matrix(const program& run) {
  const std::uint64_t columns = run.options().whole("columns");
  return random_matrix(run.team(), run.size(), columns == 0 ? run.size() : columns,
                       run.options().number("row-entries"), run.seed());
}

sparse_matrix chosen_graph(const program& run) {
  return random_graph(run.team(), run.options().word("graph"), run.size(),
                      run.options().number("degree"), run.seed());
}

}  // namespace examples
