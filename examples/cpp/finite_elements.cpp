// Solves the Laplace equation on a mesh of triangles with linear finite elements.
//
// Each rank owns triangles, and some of their nodes. The other nodes of its triangles are ghosts.
// The product with the stiffness matrix needs no matrix: a rank adds the contributions of its
// triangles to its nodes and to its ghosts, and an accumulate adds the ghosts to the nodes of their
// owners.
//
// Verification: linear functions solve the equation, and linear elements represent them exactly, on
// any mesh.
//
//     LONGSHORE_RANKS=4 finite_elements        mpirun -n 4 finite_elements
#include <longshore/longshore.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <vector>

namespace {

// A mesh of the unit square, whose inner nodes are moved at random and numbered without order. A
// partitioner would divide a real mesh. Here a rank has triangles that follow each other, and a
// node belongs to the rank with the first triangle at the node.
struct mesh {
  static constexpr int squares = 14, side = squares + 1, node_count = side * side;
  struct node {
    double x = 0, y = 0;
    bool is_inner = false;
    int owner = -1;
  };
  std::vector<node> nodes = std::vector<node>(node_count);
  std::vector<std::array<std::int64_t, 3>> triangles;

  explicit mesh(int ranks) {
    longshore::random_stream random(1, 0);
    const auto moved = [&] { return (random.uniform() - 0.5) / (2 * squares); };
    const auto id = [](int i, int j) { return (i + side * j) * 97 % node_count; };
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        node& made = nodes[static_cast<std::size_t>(id(i, j))];
        made = {double(i) / squares, double(j) / squares,
                i > 0 && j > 0 && i < squares && j < squares};
        if (made.is_inner) made.x += moved(), made.y += moved();
      }
    for (int j = 0; j < squares; ++j)
      for (int i = 0; i < squares; ++i) {
        triangles.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
        triangles.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
      }
    for (int rank = ranks - 1; rank >= 0; --rank)
      for (const auto& triangle : triangles_of(rank, ranks))
        for (const std::int64_t corner : triangle)
          nodes[static_cast<std::size_t>(corner)].owner = rank;
  }
  [[nodiscard]] std::span<const std::array<std::int64_t, 3>> triangles_of(int rank,
                                                                          int ranks) const {
    const auto of = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
    const std::size_t begin = triangles.size() * of / all;
    return std::span(triangles).subspan(begin, triangles.size() * (of + 1) / all - begin);
  }
};

double linear(const mesh::node& at) { return 1 + 2 * at.x + 3 * at.y; }

using numbers = std::vector<double, longshore::shared_allocator<double>>;

// Adds the stiffness matrix of a triangle, times p, to q.
void add_product(const std::array<std::size_t, 3>& corners, const std::vector<mesh::node>& nodes,
                 const numbers& p, numbers& q) {
  std::array<double, 3> dx, dy;  // the edges opposite to the corners
  for (std::size_t c = 0; c < 3; ++c) {
    const auto &from = nodes[corners[(c + 1) % 3]], &to = nodes[corners[(c + 2) % 3]];
    dx[c] = to.x - from.x, dy[c] = to.y - from.y;
  }
  const double twice_area = dx[0] * dy[1] - dx[1] * dy[0];
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      q[corners[a]] += (dx[a] * dx[b] + dy[a] * dy[b]) / (2 * twice_area) * p[corners[b]];
}

}  // namespace

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    const mesh all(team.size());
    const auto mine = all.triangles_of(team.rank(), team.size());
    std::vector<std::int64_t> owned, ghosts;
    for (std::int64_t id = 0; id < mesh::node_count; ++id)
      if (all.nodes[static_cast<std::size_t>(id)].owner == team.rank()) owned.push_back(id);
    std::map<std::int64_t, std::size_t> place;  // in vectors of this rank: first the owned nodes
    for (const std::int64_t id : owned) place.emplace(id, place.size());
    for (const auto& triangle : mine)
      for (const std::int64_t id : triangle)
        if (place.emplace(id, place.size()).second) ghosts.push_back(id);
    std::vector<mesh::node> nodes(place.size());
    for (const auto& [id, at] : place) nodes[at] = all.nodes[static_cast<std::size_t>(id)];
    std::vector<std::array<std::size_t, 3>> triangles;
    for (const auto& [a, b, c] : mine) triangles.push_back({place[a], place[b], place[c]});

    // The numbers of the nodes are those of the mesh, so the graph finds their owners.
    const std::size_t n = owned.size();
    const longshore::ghost_graph graph(team, std::span<const std::int64_t>(owned), ghosts);
    numbers p(nodes.size()), q(nodes.size());
    longshore::ghost_exchange fetch(graph, {.accumulates = false},
                                    longshore::ghost_field(p.data(), p.data() + n));
    longshore::ghost_exchange add_up(graph, {.updates = false},
                                     longshore::ghost_field(q.data(), q.data() + n));

    const auto product = [&] {  // q = K p at the inner nodes
      fetch.update();
      std::fill(q.begin(), q.end(), 0.0);
      for (const auto& triangle : triangles) add_product(triangle, nodes, p, q);
      add_up.accumulate(longshore::op::add{});
      for (std::size_t i = 0; i < n; ++i)
        if (!nodes[i].is_inner) q[i] = 0;
    };
    const auto dot = [&](const auto& v, const auto& w) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += v[i] * w[i];
      return team.allreduce_value(sum, longshore::reduction::sum);
    };

    // Conjugate gradients: the values at the border are given.
    std::vector<double> u(n), r(n);
    for (std::size_t i = 0; i < n; ++i) p[i] = u[i] = nodes[i].is_inner ? 0 : linear(nodes[i]);
    product();
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] = -q[i];
    double rr = dot(r, r);
    const double target = 1e-26 * rr;
    int steps = 0;
    for (; rr > target && steps < 1000; ++steps) {
      product();
      const double alpha = rr / dot(p, q), before = rr;
      for (std::size_t i = 0; i < n; ++i) u[i] += alpha * p[i], r[i] -= alpha * q[i];
      rr = dot(r, r);
      for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + rr / before * p[i];
    }

    double error = 0;
    for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::abs(u[i] - linear(nodes[i])));
    error = team.allreduce_value(error, longshore::reduction::max);
    if (team.rank() == 0)
      std::printf("finite_elements: ranks=%d nodes=%d steps=%d error=%.1e verified=%s\n",
                  team.size(), mesh::node_count, steps, error, error < 1e-10 ? "yes" : "no");
    if (error >= 1e-10) throw std::runtime_error("finite_elements: the solution is wrong");
  });
}
