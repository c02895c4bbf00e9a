// Finds the shortest paths from one vertex of a distributed graph to all vertices, by delta
// stepping (Meyer and Sanders, J. Algorithms 2003).
//
// Vertices wait in buckets by their distance; a bucket is `delta` wide. All ranks together empty
// the lowest bucket. First they send along the light edges (of at most delta) of its vertices,
// which may fill the bucket again. So there are several phases, each with one deliver, until the
// bucket stays empty. Then the ranks send once along the heavy edges of all vertices that were in
// the bucket.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/random_inputs.hpp"
#include "support/serial_checks.hpp"
#include "support/whole_array.hpp"

#include <algorithm>
#include <limits>

namespace {

using examples::sparse_matrix;
constexpr double unreached = std::numeric_limits<double>::infinity();

// The message: there is a path of this length to this vertex.
struct relaxation {
  std::uint64_t offset;  // of the vertex on its rank
  double distance;
};

class delta_stepping {
 public:
  using distances = longshore::dist_array<double, longshore::cyclic>;
  struct effort {
    std::int64_t buckets = 0, phases = 0;
  };

  /// Collective. Weights are above 0 and at most 1.
  delta_stepping(examples::program& run, const sparse_matrix& graph, double delta)
      : team_(run.team()),
        delta_(delta),
        light_(graph.with_values(0, delta)),
        heavy_(graph.with_values(delta, unreached)),
        engine_(team_, run.engine_for<relaxation>()),
        // A new distance is at most one weight beyond the current bucket. An additional bucket
        // allows for rounding of the sums.
        buckets_(static_cast<std::size_t>(1 / delta) + 3),
        sent_from_(graph.my_rows()) {}

  /// Collective. Writes the distance of every vertex from `source`, or infinity without a path.
  effort operator()(std::int64_t source, distances& distance) {
    distance_ = distance.local();
    std::fill(distance_.begin(), distance_.end(), unreached);
    std::fill(sent_from_.begin(), sent_from_.end(), unreached);
    effort spent;
    const longshore::location at = distance.map().owner_offset(static_cast<std::uint64_t>(source));
    // An empty graph does not have the source.
    if (at.rank == team_.rank() && at.offset < distance_.size()) relax({at.offset, 0});
    std::vector<std::uint64_t> frontier, removed;
    for (std::int64_t bucket = 0; (bucket = lowest_bucket(bucket)) != none; ++spent.buckets) {
      removed.clear();
      do {
        take(bucket, frontier, removed);
        send(light_, frontier);
        ++spent.phases;
      } while (lowest_bucket(bucket) == bucket);
      send(heavy_, removed);
    }
    return spent;
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] std::int64_t bucket_of(double distance) const {
    return static_cast<std::int64_t>(distance / delta_);
  }
  std::vector<std::uint64_t>& vertices_in(std::int64_t bucket) {
    return buckets_[static_cast<std::size_t>(bucket) % buckets_.size()];
  }

  void relax(const relaxation& r) {
    if (r.distance >= distance_[r.offset]) return;
    distance_[r.offset] = r.distance;
    // An older entry of the vertex may stay in another bucket; take() skips it.
    vertices_in(bucket_of(r.distance)).push_back(r.offset);
  }

  // The lowest bucket from `first` on that has vertices on any rank.
  std::int64_t lowest_bucket(std::int64_t first) {
    std::int64_t bucket = first;
    const std::int64_t end = first + static_cast<std::int64_t>(buckets_.size());
    while (bucket < end && vertices_in(bucket).empty()) ++bucket;
    return team_.allreduce_value(bucket < end ? bucket : none, longshore::reduction::min);
  }

  // Empties a bucket. Stores in `frontier` the vertices whose distance fell since their last phase.
  // Adds to `removed` the vertices that were not in the bucket before.
  void take(std::int64_t bucket, std::vector<std::uint64_t>& frontier,
            std::vector<std::uint64_t>& removed) {
    frontier.clear();
    for (const std::uint64_t v : vertices_in(bucket)) {
      if (bucket_of(distance_[v]) != bucket || sent_from_[v] == distance_[v]) continue;
      if (sent_from_[v] == unreached || bucket_of(sent_from_[v]) != bucket) removed.push_back(v);
      sent_from_[v] = distance_[v];
      frontier.push_back(v);
    }
    vertices_in(bucket).clear();
  }

  // Collective. Sends along the given edges of the vertices in `from`.
  void send(const sparse_matrix& edges, const std::vector<std::uint64_t>& from) {
    requests_.clear();
    for (const std::uint64_t v : from)
      for (std::size_t k = 0; k < edges.columns_of(v).size(); ++k) {
        const longshore::location at =
            edges.map().owner_offset(static_cast<std::uint64_t>(edges.columns_of(v)[k]));
        requests_.push_back({at.rank, {at.offset, distance_[v] + edges.values_of(v)[k]}});
      }
    longshore::deliver<relaxation>(
        engine_, requests_.size(), [&](std::size_t i) { return requests_[i]; },
        [&](int, const relaxation& r) { relax(r); });
  }

  longshore::team& team_;
  double delta_;
  sparse_matrix light_, heavy_;
  longshore::conveyor engine_;
  std::vector<std::vector<std::uint64_t>> buckets_;  // reused cyclically
  std::vector<double> sent_from_;  // for each vertex, its distance in its last phase
  std::span<double> distance_;
  std::vector<longshore::addressed<relaxation>> requests_;
};

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{
      .name = "shortest_paths",
      .about = "finds the distances of all vertices of a graph from one vertex",
      .size_is = "vertices of the graph",
      .size = 100000,
      .options = examples::graph_options(
          {{.name = "delta",
            .value = "0.1",
            .help = "width of a bucket; weights are at most 1",
            .low = 0.0001,
            .high = 1e6,
            .is_whole = false},
           {.name = "source",
            .value = "",
            .help = "first vertex; by default the first vertex with an edge",
            .high = 4294967294.0}})};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    const sparse_matrix graph = examples::chosen_graph(run);
    const std::int64_t source =
        examples::chosen_vertex(run.team(), graph, run.options().word("source"));
    delta_stepping shortest_paths(run, graph, run.options().number("delta"));
    delta_stepping::distances distance(run.team(), run.size());
    delta_stepping::effort spent;
    run.measure([&] { spent = shortest_paths(source, distance); });

    run.metric("buckets", spent.buckets);
    run.metric("phases", spent.phases);
    const auto mine = distance.local();
    run.total("reached",
              std::count_if(mine.begin(), mine.end(), [](double d) { return d != unreached; }));
    run.rate("edges", graph.my_entries());
    if (run.verifies())
      run.verify(wrong_distances(whole_on_rank_0(run.team(), graph), source,
                                 examples::whole_on_rank_0(distance)));
  });
}
