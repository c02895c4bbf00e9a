// The carrier of one neighbourhood collective. If all ranks send all faces of a grid, of equal size
// and adjacent in memory, the call is MPI_Neighbor_alltoall on a Cartesian communicator, as in
// halobench. Other messages use alltoallv. Its communicator is Cartesian if all ranks send all
// faces, else a graph.
//
// Along a dimension of one or two ranks, the neighbours on both sides are the same rank. Some MPI
// libraries then confuse the two sides (halobench has the test program neightest.f90;
// open-mpi/ompi#14433). So a new mover of a round with pairs sends the number of each pair to the
// neighbour. The received numbers tell to which pair each received block belongs.
//
// Cost: one collective with a message per pair. start() blocks if the round has pairs.
#include <longshore/exchange/detail/mpi/mpi_mover.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// For each block of the collective, in its order: the number of its message, or -1. Messages of a rank
// to itself that are copied have no number.
using message_of_block = std::vector<int>;

// The ranks of a collective, and the messages of its blocks.
struct neighbourhood {
  communicator comm;
  message_of_block sent, received;
  bool is_in_order = true;  // whether the library delivers each block where the standard says
};

// MPI numbers the ranks of a Cartesian grid with the last dimension fastest, so the ranks are
// renumbered. Block 2 d + s is sent to the neighbour on side s of dimension d, and received from it.
communicator cartesian(MPI_Comm ranks, const detail::cartesian_ranks& grid) {
  MPI_Comm numbered = MPI_COMM_NULL, made = MPI_COMM_NULL;
  check(MPI_Comm_split(ranks, 0, grid.number, &numbered), "MPI_Comm_split");
  const communicator in_grid_order(numbered);
  check(MPI_Cart_create(in_grid_order.get(), static_cast<int>(grid.shape.size()), grid.shape.data(),
                        grid.periods.data(), 0, &made),
        "MPI_Cart_create");
  return communicator(made);
}

// The n-th edge from rank A to rank B is the same at both ends.
communicator graph(MPI_Comm ranks, const std::vector<int>& sources,
                   const std::vector<int>& destinations) {
  MPI_Comm made = MPI_COMM_NULL;
  check(
      MPI_Dist_graph_create_adjacent(ranks, static_cast<int>(sources.size()), sources.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                     destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
      "MPI_Dist_graph_create_adjacent");
  return communicator(made);
}

// Sends a label (rank, pair) along every edge. The received labels tell to which pair this MPI
// library delivers each block. `edge_pairs` are the pairs of the edges in both directions, and
// `sources` the ranks from which the messages of each pair come, or -1.
void learn_block_order(mpi::team& ranks, neighbourhood& around,
                       const std::array<std::vector<int>, 2>& edge_pairs,
                       const std::vector<int>& sources, const exchange_round& round) {
  struct label {
    int rank, pair;
  };
  const auto& [sent_pairs, received_pairs] = edge_pairs;
  std::vector<label> sent, received(received_pairs.size(), {-1, -1});
  for (const int pair : sent_pairs) sent.push_back({around.comm.rank(), pair});
  // MPICH refuses null pointers even for no data.
  sent.reserve(1);
  received.reserve(1);
  {
    const watchdog::section deadline(ranks.watchdog(), "MPI_Neighbor_alltoall");
    check(MPI_Neighbor_alltoall(sent.data(), 2, MPI_INT, received.data(), 2, MPI_INT,
                                around.comm.get()),
          "MPI_Neighbor_alltoall");
  }
  enum verdict { in_order, in_other_order, wrong };
  int order = in_order;
  std::vector<bool> seen(round.pairs.size(), false);
  for (std::size_t k = 0; k < received.size(); ++k) {
    if (sources[static_cast<std::size_t>(received_pairs[k])] < 0) continue;
    const auto [rank, pair] = received[k];
    const auto p = static_cast<std::size_t>(pair);
    if (pair < 0 || p >= seen.size() || seen[p] || rank != sources[p]) {
      order = wrong;
      break;
    }
    seen[p] = true;
    if (pair != received_pairs[k]) order = in_other_order;
    around.received[k] = round.pairs[p].incoming;
  }
  order = ranks.allreduce_value(order, reduction::max);
  around.is_in_order = order == in_order;
  if (order == wrong)
    fail(errc::unsupported,
         "the neighbourhood collectives of {} deliver wrong blocks between {} ranks",
         ranks.library_version(), ranks.size());
}

neighbourhood neighbourhood_of(mpi::team& ranks, const exchange_round& round) {
  neighbourhood around;
  if (round.pairs.empty()) {
    std::vector<int> sources, destinations;
    for (const auto& in : round.incoming) {
      if (in.peer == ranks.rank()) continue;
      around.received.push_back(static_cast<int>(sources.size()));
      sources.push_back(in.peer);
    }
    for (const auto& out : round.outgoing) {
      around.sent.push_back(static_cast<int>(destinations.size()));
      destinations.push_back(out.peer);
    }
    for (auto* const list : {&sources, &destinations}) list->reserve(1);
    around.comm = graph(ranks.comm(), sources, destinations);
    return around;
  }
  std::array<std::vector<int>, 2> edge_pairs;
  std::vector<int> source_of_pair(round.pairs.size(), -1);
  if (round.grid) {
    around.comm = cartesian(ranks.comm(), *round.grid);
    for (std::size_t p = 0; p < round.pairs.size(); ++p) {
      const auto& [out, in, opposite, sends_first] = round.pairs[p];
      edge_pairs[0].push_back(static_cast<int>(p));
      edge_pairs[1].push_back(opposite);
      around.sent.push_back(out);
      around.received.push_back(round.pairs[static_cast<std::size_t>(opposite)].incoming);
    }
    // Pair 2 d travels down, and so comes from the neighbour above.
    for (std::size_t d = 0; d < round.grid->shape.size(); ++d) {
      int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
      check(MPI_Cart_shift(around.comm.get(), static_cast<int>(d), 1, &below, &above),
            "MPI_Cart_shift");
      source_of_pair[2 * d] = above == MPI_PROC_NULL ? -1 : above;
      source_of_pair[2 * d + 1] = below == MPI_PROC_NULL ? -1 : below;
    }
  } else {
    std::vector<int> sources, destinations;
    for (std::size_t p = 0; p < round.pairs.size(); ++p) {
      const auto& pair = round.pairs[p];
      if (pair.outgoing >= 0) {
        edge_pairs[0].push_back(static_cast<int>(p));
        around.sent.push_back(pair.outgoing);
        destinations.push_back(round.outgoing[static_cast<std::size_t>(pair.outgoing)].peer);
      }
      if (pair.incoming >= 0) {
        edge_pairs[1].push_back(static_cast<int>(p));
        around.received.push_back(pair.incoming);
        sources.push_back(round.incoming[static_cast<std::size_t>(pair.incoming)].peer);
        source_of_pair[p] = sources.back();
      }
    }
    around.comm = graph(ranks.comm(), sources, destinations);
  }
  learn_block_order(ranks, around, edge_pairs, source_of_pair, round);
  return around;
}

// Whether no block is missing, and all are contiguous, of equal size, and adjacent in order.
template <class Message>
bool are_adjacent(const mover_context& context, const message_of_block& blocks,
                  const std::vector<Message>& messages, std::size_t bytes) {
  std::byte* first = nullptr;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (blocks[k] < 0) return false;
    const auto& message = messages[static_cast<std::size_t>(blocks[k])];
    std::byte* const at = detail::contiguous_memory(context, message);
    if (k == 0) first = at;
    if (at == nullptr || at != first + k * bytes ||
        detail::payload_bytes(context, message) != bytes)
      return false;
  }
  return true;
}

class neighbor_mover final : public mpi_mover {
 public:
  neighbor_mover(const mover_context& context, const exchange_round& round,
                 std::span<const int> tags, neighbourhood around, bool without_packing)
      : mpi_mover(context, round, tags, without_packing ? buffering::strided : buffering::all),
        around_(std::move(around)),
        without_packing_(without_packing) {
    const auto add_block = [](const call_arguments& call, blocks& of) {
      const bool exists = call.rank != MPI_PROC_NULL;
      of.bytes.push_back(call.bytes);
      of.offsets.push_back(
          count(exists ? static_cast<std::size_t>(call.data - of.first) : 0, "a message"));
    };
    static std::byte nothing{};  // MPICH refuses null pointers even if there is no block
    sent_.first = outgoing_.empty() ? &nothing : outgoing_[0].data;
    received_.first = incoming_.empty() ? &nothing : incoming_[0].data;
    if (!without_packing) {
      for (const int i : around_.sent) add_block(outgoing({.outgoing = i}), sent_);
      for (const int i : around_.received) add_block(incoming({.incoming = i}), received_);
    }
    for (auto* const of : {&sent_, &received_}) of->bytes.reserve(1), of->offsets.reserve(1);
  }

 private:
  struct blocks {
    std::byte* first = nullptr;
    std::vector<int> bytes, offsets;  // the offsets count from the first block
  };
  void start_calls() override {
    if (without_packing_) {
      const auto deadline = limit_time();
      const auto& out = outgoing({.outgoing = around_.sent[0]});
      return check(MPI_Neighbor_alltoall(out.data, out.bytes, MPI_BYTE,
                                         incoming({.incoming = around_.received[0]}).data,
                                         out.bytes, MPI_BYTE, around_.comm.get()),
                   "MPI_Neighbor_alltoall");
    }
    for (const auto& out : outgoing_) pack(out);
    if (pairs_.empty())
      return check(
          MPI_Ineighbor_alltoallv(sent_.first, sent_.bytes.data(), sent_.offsets.data(), MPI_BYTE,
                                  received_.first, received_.bytes.data(), received_.offsets.data(),
                                  MPI_BYTE, around_.comm.get(), &request_),
          "MPI_Ineighbor_alltoallv");
    const auto deadline = limit_time();
    check(MPI_Neighbor_alltoallv(sent_.first, sent_.bytes.data(), sent_.offsets.data(), MPI_BYTE,
                                 received_.first, received_.bytes.data(), received_.offsets.data(),
                                 MPI_BYTE, around_.comm.get()),
          "MPI_Neighbor_alltoallv");
  }
  // A blocking call leaves no request.
  bool test_calls() override {
    int is_complete = 0;
    check(MPI_Test(&request_, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    return is_complete != 0;
  }
  void wait_calls() override { check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

  neighbourhood around_;
  bool without_packing_;
  blocks sent_, received_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

made_mover make_neighbor_mover(const mover_context& context, const exchange_round& round,
                               std::span<const int> tags) {
  auto& ranks = dynamic_cast<mpi::team&>(context.ranks);
  auto around = neighbourhood_of(ranks, round);
  bool without_packing = false;
  if (round.grid && context.posts_in_place && around.is_in_order) {
    // All ranks must make the same collective call.
    const std::size_t bytes =
        round.outgoing.empty() ? 0 : detail::payload_bytes(context, round.outgoing[0]);
    const bool may = are_adjacent(context, around.sent, round.outgoing, bytes) &&
                     are_adjacent(context, around.received, round.incoming, bytes);
    without_packing = ranks.allreduce_value<int>(may, reduction::min) != 0;
  }
  return std::make_unique<neighbor_mover>(context, round, tags, std::move(around), without_packing);
}

}  // namespace longshore::mpi
