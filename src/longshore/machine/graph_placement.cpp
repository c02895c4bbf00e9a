// Divides nodes and vertices by recursive bisection. A bisection ignores edges to vertices outside
// of its set, because their traffic leaves the set in any case.
#include <longshore/machine/graph_placement.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace longshore {
namespace {

struct neighbour {
  int vertex;
  std::int64_t weight;
};

// The undirected graph. The neighbours of vertex v are neighbours[first[v]] up to, not including,
// neighbours[first[v + 1]].
struct adjacency {
  std::vector<std::size_t> first;
  std::vector<neighbour> neighbours;

  [[nodiscard]] std::span<const neighbour> of(int vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return std::span(neighbours).subspan(first[v], first[v + 1] - first[v]);
  }
};

adjacency adjacency_of(std::span<const graph_edge> edges, std::size_t vertices) {
  adjacency graph{std::vector<std::size_t>(vertices + 1), {}};
  const auto counts = [](const graph_edge& edge) {
    return edge.from != edge.to && edge.weight > 0;
  };
  for (const auto& edge : edges) {
    for (const int vertex : {edge.from, edge.to})
      if (vertex < 0 || static_cast<std::size_t>(vertex) >= vertices)
        fail(errc::usage, "an edge from {} to {}: the graph has {} vertices", edge.from, edge.to,
             vertices);
    if (edge.weight < 0)
      fail(errc::usage, "the edge from {} to {} has the negative weight {}", edge.from, edge.to,
           edge.weight);
    if (!counts(edge)) continue;
    ++graph.first[static_cast<std::size_t>(edge.from) + 1];
    ++graph.first[static_cast<std::size_t>(edge.to) + 1];
  }
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.neighbours.resize(graph.first.back());
  auto next = graph.first;
  for (const auto& edge : edges) {
    if (!counts(edge)) continue;
    graph.neighbours[next[static_cast<std::size_t>(edge.from)]++] = {edge.to, edge.weight};
    graph.neighbours[next[static_cast<std::size_t>(edge.to)]++] = {edge.from, edge.weight};
  }
  return graph;
}

// One bisection: each vertex of a set is on side 0 or 1. Others have side -1.
class bisection {
 public:
  bisection(const adjacency& graph, std::span<const int> vertices, std::size_t size_of_0)
      : graph_(graph),
        vertices_(vertices),
        size_of_0_(size_of_0),
        side_(graph.first.size() - 1, -1),
        gain_(side_.size()) {}

  // Returns the vertices of side 0, then those of side 1, each ascending.
  std::vector<int> divide() {
    for (std::size_t i = 0; i < vertices_.size(); ++i)
      set_side(vertices_[i], i < size_of_0_ ? 0 : 1);
    improve();
    const auto in_order = side_;
    const std::int64_t cut_in_order = cut();
    grow();
    improve();
    if (cut_in_order <= cut()) side_ = in_order;
    std::vector<int> divided(vertices_.begin(), vertices_.end());
    std::stable_partition(divided.begin(), divided.end(), [&](int v) { return side(v) == 0; });
    return divided;
  }

 private:
  using candidates = std::priority_queue<std::pair<std::int64_t, int>>;  // gain and -vertex
  static constexpr int max_rounds = 8;
  static constexpr std::size_t max_fruitless_swaps = 50;

  [[nodiscard]] int side(int vertex) const { return side_[static_cast<std::size_t>(vertex)]; }
  void set_side(int vertex, int side) { side_[static_cast<std::size_t>(vertex)] = side; }
  std::int64_t& gain(int vertex) { return gain_[static_cast<std::size_t>(vertex)]; }

  [[nodiscard]] std::int64_t cut() const {
    std::int64_t weight = 0;
    for (const int v : vertices_)
      for (const auto& [other, w] : graph_.of(v))
        if (side(v) == 0 && side(other) == 1) weight += w;
    return weight;
  }

  // Returns the last vertex that a breadth-first search reaches, which is at the rim. The search
  // visits the connected parts of the graph one after another.
  [[nodiscard]] int rim() const {
    std::vector<bool> seen(side_.size());
    std::vector<int> order;
    std::size_t next = 0;
    for (const int start : vertices_) {
      if (seen[static_cast<std::size_t>(start)]) continue;
      seen[static_cast<std::size_t>(start)] = true;
      order.push_back(start);
      for (; next < order.size(); ++next)
        for (const auto& [other, weight] : graph_.of(order[next])) {
          if (side(other) < 0 || seen[static_cast<std::size_t>(other)]) continue;
          seen[static_cast<std::size_t>(other)] = true;
          order.push_back(other);
        }
    }
    return order.back();
  }

  // Grows side 0 from the rim. Each step adds the vertex with the largest difference of weights: to
  // side 0 minus to side 1.
  void grow() {
    for (const int v : vertices_) set_side(v, 1);
    candidates best;
    for (const int v : vertices_) {
      gain(v) = 0;
      for (const auto& [other, weight] : graph_.of(v))
        if (side(other) >= 0) gain(v) -= weight;
    }
    int grown = rim();
    auto unreached = vertices_.begin();
    for (std::size_t size = 0; size < size_of_0_; ++size) {
      set_side(grown, 0);
      for (const auto& [other, weight] : graph_.of(grown)) {
        if (side(other) != 1) continue;
        gain(other) += 2 * weight;
        best.emplace(gain(other), -other);
      }
      grown = take_best(best, 1);
      while (grown < 0 && unreached != vertices_.end() && side(*unreached) == 0) ++unreached;
      if (grown < 0 && unreached != vertices_.end()) grown = *unreached;
    }
  }

  // Returns the best vertex of a side, or -1. Entries with an outdated side or gain are dropped.
  int take_best(candidates& of, int of_side) {
    while (!of.empty()) {
      const auto [gain_then, negative] = of.top();
      of.pop();
      const int vertex = -negative;
      if (side(vertex) == of_side && gain(vertex) == gain_then && !is_locked(vertex)) return vertex;
    }
    return -1;
  }
  [[nodiscard]] bool is_locked(int vertex) const {
    return !locked_.empty() && locked_[static_cast<std::size_t>(vertex)];
  }

  void improve() {
    for (int round = 0; round < max_rounds && improve_once(); ++round) {
    }
  }

  // Swaps pairs of vertices, each vertex once. Then takes back all swaps after the best state.
  bool improve_once() {
    locked_.assign(side_.size(), false);
    candidates of_side[2];
    for (const int v : vertices_) {
      gain(v) = 0;
      for (const auto& [other, weight] : graph_.of(v))
        if (side(other) >= 0) gain(v) += side(other) == side(v) ? -weight : weight;
      of_side[side(v)].emplace(gain(v), -v);
    }
    std::vector<int> moved;
    std::int64_t total = 0, best_total = 0;
    std::size_t kept = 0;
    while (moved.size() < kept + 2 * max_fruitless_swaps) {
      const std::size_t before = moved.size();
      for (const int from : {0, 1}) {
        const int vertex = take_best(of_side[from], from);
        if (vertex < 0) break;
        total += gain(vertex);
        locked_[static_cast<std::size_t>(vertex)] = true;
        set_side(vertex, 1 - from);
        moved.push_back(vertex);
        for (const auto& [other, weight] : graph_.of(vertex)) {
          if (side(other) < 0 || is_locked(other)) continue;
          gain(other) += side(other) == from ? 2 * weight : -2 * weight;
          of_side[side(other)].emplace(gain(other), -other);
        }
      }
      if (moved.size() != before + 2) break;
      if (total > best_total) {
        best_total = total;
        kept = moved.size();
      }
    }
    for (std::size_t i = kept; i < moved.size(); ++i) set_side(moved[i], 1 - side(moved[i]));
    locked_.clear();
    return best_total > 0;
  }

  const adjacency& graph_;
  std::span<const int> vertices_;
  std::size_t size_of_0_;
  std::vector<int> side_;
  std::vector<std::int64_t> gain_;
  std::vector<bool> locked_;
};

// Divides the vertices among nodes. The positions of a node follow each other in `vertices`.
void divide(const adjacency& graph, std::span<int> vertices, std::span<const std::size_t> sizes) {
  if (sizes.size() < 2) return;
  const auto half = sizes.size() / 2;
  const auto size_of_0 = std::accumulate(
      sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(half), std::size_t{0});
  const auto divided = bisection(graph, vertices, size_of_0).divide();
  std::copy(divided.begin(), divided.end(), vertices.begin());
  divide(graph, vertices.first(size_of_0), sizes.first(half));
  divide(graph, vertices.subspan(size_of_0), sizes.subspan(half));
}

}  // namespace

std::vector<int> place_graph(std::span<const graph_edge> edges,
                             std::span<const int> node_of_position) {
  const std::size_t vertices = node_of_position.size();
  const auto graph = adjacency_of(edges, vertices);
  std::map<int, std::vector<std::size_t>> positions;  // indexed by node
  for (std::size_t p = 0; p < vertices; ++p) positions[node_of_position[p]].push_back(p);
  std::vector<std::size_t> sizes;
  for (const auto& [node, of_node] : positions) sizes.push_back(of_node.size());

  std::vector<int> in_order(vertices);
  std::iota(in_order.begin(), in_order.end(), 0);
  auto by_node = in_order;
  divide(graph, by_node, sizes);
  std::vector<int> vertex_at(vertices);
  auto next = by_node.begin();
  for (const auto& [node, of_node] : positions)
    for (const std::size_t p : of_node) vertex_at[p] = *next++;
  const bool is_better = weight_between_nodes(edges, vertex_at, node_of_position) <
                         weight_between_nodes(edges, in_order, node_of_position);
  return is_better ? vertex_at : in_order;
}

std::int64_t weight_between_nodes(std::span<const graph_edge> edges, std::span<const int> vertex_at,
                                  std::span<const int> node_of_position) {
  std::vector<int> node_of(vertex_at.size());
  for (std::size_t p = 0; p < vertex_at.size(); ++p)
    node_of[static_cast<std::size_t>(vertex_at[p])] = node_of_position[p];
  std::int64_t weight = 0;
  for (const auto& edge : edges)
    if (node_of[static_cast<std::size_t>(edge.from)] != node_of[static_cast<std::size_t>(edge.to)])
      weight += edge.weight;
  return weight;
}

}  // namespace longshore
