// Placements of graphs: permutations, never worse than the order of the vertices, and as good as
// the best where that is known.
#include <longshore/machine/graph_placement.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace longshore {
namespace {

std::vector<int> even_nodes(int positions, int per_node) {
  std::vector<int> nodes;
  for (int p = 0; p < positions; ++p) nodes.push_back(p / per_node);
  return nodes;
}

std::vector<int> shuffled(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  random_stream random(5);
  shuffle(std::span(order), random);
  return order;
}

// The edges of a grid of vertices with shuffled numbers.
std::vector<graph_edge> shuffled_grid(int x, int y) {
  const auto number = shuffled(x * y);
  const auto at = [&](int i, int j) { return number[static_cast<std::size_t>(j * x + i)]; };
  std::vector<graph_edge> edges;
  for (int j = 0; j < y; ++j)
    for (int i = 0; i < x; ++i) {
      if (i + 1 < x) edges.push_back({at(i, j), at(i + 1, j), 10});
      if (j + 1 < y) edges.push_back({at(i, j + 1), at(i, j), 10});
    }
  return edges;
}

void expect_permutation(std::vector<int> placed) {
  std::sort(placed.begin(), placed.end());
  for (std::size_t i = 0; i < placed.size(); ++i) EXPECT_EQ(placed[i], static_cast<int>(i));
}

TEST(graph_placement, finds_the_best_halves_of_a_shuffled_grid) {
  const auto edges = shuffled_grid(12, 8);
  const auto nodes = even_nodes(96, 48);
  const auto placed = place_graph(edges, nodes);
  expect_permutation(placed);
  EXPECT_EQ(weight_between_nodes(edges, placed, nodes), 80);
}

TEST(graph_placement, puts_cliques_on_nodes_of_their_sizes) {
  const std::vector<int> sizes = {3, 5, 1, 4, 2, 5};
  std::vector<graph_edge> edges;
  std::vector<int> nodes;
  const auto number = shuffled(20);
  int first = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    for (int i = 0; i < sizes[k]; ++i) {
      nodes.push_back(static_cast<int>(k));
      for (int j = 0; j < i; ++j)
        edges.push_back({number[static_cast<std::size_t>(first + i)],
                         number[static_cast<std::size_t>(first + j)], 1});
    }
    first += sizes[k];
  }
  const auto placed = place_graph(edges, nodes);
  expect_permutation(placed);
  const std::vector<int> order = [&] {
    std::vector<int> all(20);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  EXPECT_LT(weight_between_nodes(edges, placed, nodes),
            weight_between_nodes(edges, order, nodes) / 2);
}

TEST(graph_placement, is_never_worse_than_the_order_of_the_vertices) {
  random_stream random(9);
  for (const int vertices : {1, 2, 3, 4, 7, 30})
    for (const int per_node : {1, 2, 3, 30}) {
      std::vector<graph_edge> edges;
      for (int e = 0; e < 4 * vertices; ++e)
        edges.push_back({static_cast<int>(random.below(static_cast<std::uint64_t>(vertices))),
                         static_cast<int>(random.below(static_cast<std::uint64_t>(vertices))),
                         static_cast<std::int64_t>(random.below(5))});
      const auto nodes = even_nodes(vertices, per_node);
      const auto placed = place_graph(edges, nodes);
      expect_permutation(placed);
      EXPECT_EQ(placed, place_graph(edges, nodes));
      std::vector<int> order(nodes.size());
      std::iota(order.begin(), order.end(), 0);
      EXPECT_LE(weight_between_nodes(edges, placed, nodes),
                weight_between_nodes(edges, order, nodes));
    }
}

TEST(graph_placement, keeps_the_order_without_edges_and_with_one_node) {
  EXPECT_EQ(place_graph({}, even_nodes(4, 2)), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(place_graph(shuffled_grid(2, 2), even_nodes(4, 4)), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(place_graph({}, {}).empty());
}

TEST(graph_placement, refuses_wrong_edges) {
  const auto place = [](graph_edge edge) {
    static_cast<void>(place_graph(std::vector{edge}, even_nodes(4, 2)));
  };
  EXPECT_THROW(place({0, 4, 1}), error);
  EXPECT_THROW(place({-1, 0, 1}), error);
  EXPECT_THROW(place({0, 1, -1}), error);
}

}  // namespace
}  // namespace longshore
