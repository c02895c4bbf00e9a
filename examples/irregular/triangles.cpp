// Counts the triangles of a distributed graph. This is the push variant of bale's triangles.
//
// An edge is kept at its end with fewer neighbours. If both ends have equally many, the edge is
// kept at the end with the lower number. So no vertex keeps many edges, however skewed the graph is
// (Chiba and Nishizeki, SIAM J. Comput. 1985). Two edges at one vertex form a wedge. A wedge is
// sent to the rank that would keep the third edge. That rank counts the wedge if the third edge
// exists.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/random_inputs.hpp"
#include "support/serial_checks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace {

using examples::row_entry;
using examples::sparse_matrix;

// The message: does edge (low, high) exist? Vertex numbers have 32 bits, so a message has 8 bytes.
struct wedge {
  std::uint32_t low_offset;  // of the low end on its rank
  std::uint32_t high;
};

// Returns wedge i of this rank, for i in ascending order.
class wedge_walk {
 public:
  /// `kept` has an entry for each edge, in the row of the end that keeps the edge. The value is the
  /// number of neighbours of the other end.
  explicit wedge_walk(const sparse_matrix& kept) : kept_(kept) {}

  [[nodiscard]] std::size_t count() const {
    std::size_t wedges = 0;
    for (std::size_t row = 0; row < kept_.my_rows(); ++row)
      wedges += kept_.columns_of(row).size() * (kept_.columns_of(row).size() - 1) / 2;
    return wedges;
  }

  longshore::addressed<wedge> operator()(std::size_t i) {
    while (i >= first_ + high_ends()) {
      first_ += high_ends();
      if (++low_ + 1 >= ends_.size()) next_vertex();
      if (low_ + 1 < ends_.size())
        at_ = kept_.map().owner_offset(static_cast<std::uint64_t>(ends_[low_].second));
    }
    const std::int64_t high = ends_[low_ + 1 + (i - first_)].second;
    return {at_.rank, {static_cast<std::uint32_t>(at_.offset), static_cast<std::uint32_t>(high)}};
  }

 private:
  // The number of wedges at the current vertex with the current low end.
  [[nodiscard]] std::size_t high_ends() const {
    return low_ + 1 < ends_.size() ? ends_.size() - low_ - 1 : 0;
  }

  void next_vertex() {
    const auto columns = kept_.columns_of(row_);
    const auto neighbours = kept_.values_of(row_++);
    ends_.resize(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) ends_[k] = {neighbours[k], columns[k]};
    std::sort(ends_.begin(), ends_.end());
    low_ = 0;
  }

  const sparse_matrix& kept_;
  std::size_t row_ = 0;  // the next row
  // For each edge of the current row: neighbours and number of the far end, in ascending order.
  std::vector<std::pair<double, std::int64_t>> ends_;
  std::size_t low_ = 0;     // index of the low end in ends_
  std::size_t first_ = 0;   // number of the first wedge with that low end
  longshore::location at_;  // of the low end
};

class triangle_count {
 public:
  /// Collective. The graph must outlive the object.
  triangle_count(examples::program& run, const sparse_matrix& graph)
      : graph_(graph),
        degree_requests_(run.team(), {.engine = run.engine_for<std::uint32_t>()}),
        engine_(run.team(), run.engine_for<wedge>()) {}

  /// Collective. Returns the number of triangles of the whole graph.
  std::int64_t operator()() {
    const sparse_matrix kept = kept_edges();
    wedge_walk walk(kept);
    wedges_ = walk.count();
    std::int64_t closed = 0;
    longshore::deliver<wedge>(engine_, wedges_, walk, [&](int, const wedge& w) {
      const auto high_ends = kept.columns_of(w.low_offset);
      closed += std::binary_search(high_ends.begin(), high_ends.end(), w.high) ? 1 : 0;
    });
    return engine_.ranks().allreduce_value(closed, longshore::reduction::sum);
  }

  /// The number of wedges that this rank sent in the last call.
  [[nodiscard]] std::size_t wedges() const { return wedges_; }

 private:
  // Both ends of an edge request the number of neighbours of the other end. Replies come in the
  // order of the requests, so the walk over the entries needs no memory.
  sparse_matrix kept_edges() {
    std::vector<row_entry> kept;
    sparse_matrix::walk walk(graph_);
    degree_requests_(
        graph_.my_entries(),
        [&](std::size_t i) {
          const longshore::location at =
              graph_.map().owner_offset(static_cast<std::uint64_t>(graph_.my_columns()[i]));
          return longshore::addressed<std::uint32_t>{at.rank,
                                                     static_cast<std::uint32_t>(at.offset)};
        },
        [&](int, std::uint32_t offset) { return degree(offset); },
        [&](std::size_t i, std::uint32_t degree_of_column) {
          const examples::entry e = walk(i);
          if (std::pair(degree(e.offset), e.row) < std::pair(degree_of_column, e.column))
            kept.push_back({e.offset, e.column, static_cast<double>(degree_of_column)});
        });
    const longshore::team& team = engine_.ranks();
    return {graph_.rows(), graph_.columns(), team.rank(), team.size(), kept};
  }
  [[nodiscard]] std::uint32_t degree(std::size_t offset) const {
    return static_cast<std::uint32_t>(graph_.columns_of(offset).size());
  }

  const sparse_matrix& graph_;
  longshore::request_reply<longshore::conveyor, std::uint32_t, std::uint32_t> degree_requests_;
  longshore::conveyor engine_;
  std::size_t wedges_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{.name = "triangles",
                                    .about = "counts the triangles of an undirected graph",
                                    .size_is = "vertices of the graph",
                                    .options = examples::graph_options()};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    const sparse_matrix graph = examples::chosen_graph(run);
    triangle_count count(run, graph);
    std::int64_t triangles = 0;
    run.measure([&] { triangles = count(); });

    run.metric("triangles", triangles);
    run.rate("wedges", count.wedges());
    if (run.verifies()) {
      const sparse_matrix whole = whole_on_rank_0(run.team(), graph);
      const std::int64_t expected =
          run.team().rank() == 0 ? count_triangles_serially(whole) : triangles;
      run.verify(triangles == expected
                     ? ""
                     : fmt::format("{} triangles, but {} in the serial run", triangles, expected));
    }
  });
}
