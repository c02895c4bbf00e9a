// Solves A x = b by Gauss-Seidel: the potentials in a random network of resistors.
//
// Each rank owns a block of vertices. A step makes the residual of one vertex zero, and changes the
// residuals of its neighbours. Neighbours on other ranks are ghosts: a rank collects their changes,
// and after each sweep an accumulate adds the changes to the residuals of their owners. So a vertex
// sees the newest values of its rank, and values of the sweep before from other ranks. For networks
// of resistors the method converges on any number of ranks.
//
// Verification: the residual b - A x, computed anew from x, and the known solution.
//
//     LONGSHORE_RANKS=4 gauss_seidel        mpirun -n 4 gauss_seidel
#include <longshore/longshore.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

// All edges of the network. Each vertex also has a resistor to ground, of conductance 1.
struct network {
  static constexpr std::int64_t size = 2000;
  struct edge {
    std::int64_t a, b;
    double conductance;
  };
  std::vector<edge> edges;
  network() {
    constexpr int edges_per_vertex = 3;
    constexpr std::uint64_t reach = 50;
    longshore::random_stream random(1, 0);
    for (std::int64_t a = 0; a < size; ++a)
      for (int k = 0; k < edges_per_vertex; ++k) {
        const auto step = static_cast<std::int64_t>(1 + random.below(reach));
        edges.push_back({a, (a + step) % size, 0.5 + random.uniform()});
      }
  }
};

// The rows of one rank. An entry has the place of its column in vectors of this rank: first the
// vertices that the rank owns, then the ghosts.
struct matrix {
  struct entry {
    std::size_t place;
    double conductance;
  };
  struct row {
    double diagonal = 1;
    std::vector<entry> entries;
  };
  std::int64_t first;  // the first vertex of this rank
  std::vector<row> rows;
  std::vector<std::int64_t> ghosts;  // ascending

  matrix(const network& all, const longshore::team& team)
      : first(network::size * team.rank() / team.size()),
        rows(static_cast<std::size_t>(network::size * (team.rank() + 1) / team.size() - first)) {
    for (const auto& [a, b, conductance] : all.edges)
      if (is_mine(a) != is_mine(b)) ghosts.push_back(is_mine(a) ? b : a);
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    const auto add = [this](std::int64_t vertex, std::int64_t neighbour, double conductance) {
      if (!is_mine(vertex)) return;
      row& changed = rows[static_cast<std::size_t>(vertex - first)];
      changed.diagonal += conductance;
      changed.entries.push_back({place_of(neighbour), conductance});
    };
    for (const auto& [a, b, conductance] : all.edges) {
      add(a, b, conductance);
      add(b, a, conductance);
    }
  }

  [[nodiscard]] bool is_mine(std::int64_t vertex) const {
    return vertex >= first && vertex < first + static_cast<std::int64_t>(rows.size());
  }
  [[nodiscard]] std::size_t place_of(std::int64_t vertex) const {
    if (is_mine(vertex)) return static_cast<std::size_t>(vertex - first);
    const auto ghost = std::lower_bound(ghosts.begin(), ghosts.end(), vertex);
    return rows.size() + static_cast<std::size_t>(ghost - ghosts.begin());
  }
  // Row i of A x.
  template <class Vector>
  [[nodiscard]] double product(std::size_t i, const Vector& x) const {
    double sum = rows[i].diagonal * x[i];
    for (const auto& [place, conductance] : rows[i].entries) sum -= conductance * x[place];
    return sum;
  }
};

double solution(std::int64_t vertex) { return std::sin(0.01 * static_cast<double>(vertex)) + 2; }

}  // namespace

int main(int argc, char** argv) {
  longshore::run(argc, argv, [](longshore::team& team) {
    const matrix a(network(), team);
    const std::size_t n = a.rows.size(), all = n + a.ghosts.size();
    // In memory of this allocator neighbours read the elements themselves, without messages.
    std::vector<double, longshore::shared_allocator<double>> x(all), r(all);
    const longshore::ghost_graph graph(team, n, a.ghosts);
    longshore::ghost_exchange add_changes(graph, {.updates = false},
                                          longshore::ghost_field(r.data(), r.data() + n));
    longshore::ghost_exchange fetch(graph, {.accumulates = false},
                                    longshore::ghost_field(x.data(), x.data() + n));
    const auto norm = [&](const auto& v) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += v[i] * v[i];
      return std::sqrt(team.allreduce_value(sum, longshore::reduction::sum));
    };

    std::vector<double> right(all), b(n);
    for (std::size_t i = 0; i < n; ++i) right[i] = solution(a.first + static_cast<std::int64_t>(i));
    for (std::size_t g = 0; g < a.ghosts.size(); ++g) right[n + g] = solution(a.ghosts[g]);
    for (std::size_t i = 0; i < n; ++i) r[i] = b[i] = a.product(i, right);  // x is 0
    const double target = 1e-12 * norm(b);
    int sweeps = 0;
    for (; norm(r) > target && sweeps < 1000; ++sweeps) {
      for (std::size_t i = 0; i < n; ++i) {
        const double change = r[i] / a.rows[i].diagonal;
        x[i] += change;
        r[i] = 0;
        for (const auto& [place, conductance] : a.rows[i].entries) r[place] += conductance * change;
      }
      add_changes.accumulate(longshore::op::add{});
      std::fill(r.begin() + static_cast<std::ptrdiff_t>(n), r.end(), 0.0);  // no changes yet
    }

    fetch.update();
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = b[i] - a.product(i, x);
      error = std::max(error, std::abs(x[i] - right[i]));
    }
    error = team.allreduce_value(error, longshore::reduction::max);
    const double residual = norm(r) / norm(b);
    const bool is_right = residual < 1e-11 && error < 1e-9;
    if (team.rank() == 0)
      std::printf("gauss_seidel: ranks=%d vertices=%lld sweeps=%d residual=%.1e verified=%s\n",
                  team.size(), static_cast<long long>(network::size), sweeps, residual,
                  is_right ? "yes" : "no");
    if (!is_right) throw std::runtime_error("gauss_seidel: the solution is wrong");
  });
}
