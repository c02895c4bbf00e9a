// Mode neighbor: one neighbourhood collective. If the messages are the faces, of equal size and
// adjacent in memory, the call is MPI_Neighbor_alltoall on a Cartesian communicator, as in
// halobench. Other messages use MPI_Neighbor_alltoallv, and a graph communicator if there are edges
// and corners.
//
// Along a dimension of one or two ranks, the neighbours on both sides are the same rank. Some MPI
// libraries then confuse the two sides (halobench has the test program neightest.f90;
// open-mpi/ompi#14433). So a new plan sends the index of each message pair to the neighbour. The
// received indices tell to which message pair each received block belongs.
//
// Cost for d dimensions: one collective with 2 d or 3^d - 1 messages. start() blocks.
#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// Whether the round has all faces and nothing else, in the order of a Cartesian communicator.
bool has_all_faces(const detail::halo_round& round, int dimensions) {
  const auto faces = face_directions(dimensions);
  return std::equal(round.begin(), round.end(), faces.begin(), faces.end(),
                    [](const auto& pair, const auto& face) { return pair.direction == face; });
}

// Whether MPI_Neighbor_alltoall can transfer the cells in place: the messages are all faces, and in
// both directions contiguous, of equal size and adjacent in memory. Received block k comes from the
// side to which pair k sends. So block k is the incoming message of the opposite pair, k ^ 1
// (face_directions).
bool needs_no_packing(const detail::halo_round& round, int dimensions) {
  if (!has_all_faces(round, dimensions)) return false;
  const std::size_t bytes = round[0].outgoing.size_bytes();
  const std::byte* const send = round[0].outgoing.contiguous();
  const std::byte* const receive = round[1].incoming.contiguous();
  const auto is_block = [&](const detail::halo_message& message, const std::byte* begin,
                            std::size_t block) {
    return message.exists() && message.size_bytes() == bytes && begin != nullptr &&
           message.contiguous() == begin + block * bytes;
  };
  for (std::size_t k = 0; k < round.size(); ++k)
    if (!is_block(round[k].outgoing, send, k) || !is_block(round[k ^ 1].incoming, receive, k))
      return false;
  return true;
}

// Whether no rank needs packing. All ranks must make the same collective call, although ranks at a
// border have fewer messages than inner ranks.
bool no_rank_needs_packing(const rank_grid& grid, const detail::halo_round& round) {
  return grid.ranks().allreduce_value<int>(needs_no_packing(round, grid.dimensions()),
                                           reduction::min) != 0;
}

class neighbor_backend final : public mode_backend {
 public:
  explicit neighbor_backend(const round_setup& setup)
      : neighbor_backend(setup, no_rank_needs_packing(setup.grid, setup.round) ? buffering::strided
                                                                               : buffering::all) {}
  void start() override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override;

 private:
  neighbor_backend(const round_setup& setup, buffering buffered);
  void make_cartesian(const rank_grid& grid);
  void make_graph();
  void learn_block_order(const rank_grid& grid);

  communicator neighbours_;
  bool without_packing_;
  std::vector<std::size_t> send_pairs_, receive_pairs_;  // the message pair of each block
  std::vector<int> send_bytes_, send_offsets_, receive_bytes_, receive_offsets_;
};

neighbor_backend::neighbor_backend(const round_setup& setup, buffering buffered)
    : mode_backend(setup, buffered), without_packing_(buffered != buffering::all) {
  if (has_all_faces(round(), setup.grid.dimensions()))
    make_cartesian(setup.grid);
  else
    make_graph();
  learn_block_order(setup.grid);
  if (without_packing_) return;
  const auto add_block = [this](const call_arguments& call, std::vector<int>& bytes,
                                std::vector<int>& offsets) {
    const bool exists = call.rank != MPI_PROC_NULL;
    const std::ptrdiff_t offset = exists ? static_cast<std::byte*>(call.data) - buffer() : 0;
    bytes.push_back(call.bytes);
    offsets.push_back(mpi::count(static_cast<std::size_t>(offset), "a halo message"));
  };
  for (const auto i : send_pairs_) add_block(outgoing(i), send_bytes_, send_offsets_);
  for (const auto i : receive_pairs_) add_block(incoming(i), receive_bytes_, receive_offsets_);
  // MPICH refuses null pointers even if there is no block.
  for (auto* const list : {&send_bytes_, &send_offsets_, &receive_bytes_, &receive_offsets_})
    list->reserve(1);
}

// MPI numbers the ranks of a Cartesian grid with the last dimension fastest. Here the dimensions
// are given in reverse, so that x is fastest, and the ranks are renumbered to match their
// placement. Blocks then have the order of face_directions: down and up for each dimension. Block k
// is sent in direction k, and block k is received from the side of direction k.
void neighbor_backend::make_cartesian(const rank_grid& grid) {
  std::array<int, 3> sizes{}, periods{};
  const int dimensions = grid.dimensions();
  for (int d = 0; d < dimensions; ++d) {
    sizes[dimensions - 1 - d] = grid.shape()[d];
    periods[dimensions - 1 - d] = grid.periodic()[d] ? 1 : 0;
  }
  MPI_Comm cartesian = MPI_COMM_NULL;
  const auto& at = grid.coordinates();
  MPI_Comm numbered = MPI_COMM_NULL;
  check(MPI_Comm_split(comm(), 0, at[0] + grid.shape()[0] * (at[1] + grid.shape()[1] * at[2]),
                       &numbered),
        "MPI_Comm_split");
  const communicator in_grid_order(numbered);
  check(
      MPI_Cart_create(in_grid_order.get(), dimensions, sizes.data(), periods.data(), 0, &cartesian),
      "MPI_Cart_create");
  neighbours_ = communicator(cartesian);
  for (std::size_t i = 0; i < count(); ++i) {
    send_pairs_.push_back(i);
    receive_pairs_.push_back(opposite(i));
  }
}

// Sources and destinations are in the order of the directions of travel, which is the same on all
// ranks. So the n-th edge from rank A to rank B is the same at both ends.
void neighbor_backend::make_graph() {
  std::vector<int> sources, destinations;
  for (std::size_t i = 0; i < count(); ++i) {
    if (outgoing(i).rank != MPI_PROC_NULL) {
      destinations.push_back(outgoing(i).rank);
      send_pairs_.push_back(i);
    }
    if (incoming(i).rank != MPI_PROC_NULL) {
      sources.push_back(incoming(i).rank);
      receive_pairs_.push_back(i);
    }
  }
  MPI_Comm graph = MPI_COMM_NULL;
  check(
      MPI_Dist_graph_create_adjacent(comm(), static_cast<int>(sources.size()), sources.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                     destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
      "MPI_Dist_graph_create_adjacent");
  neighbours_ = communicator(graph);
}

// Sends a label (rank, pair) along every edge. The received labels tell to which message pair this
// MPI library delivers each block.
void neighbor_backend::learn_block_order(const rank_grid& grid) {
  struct label {
    int rank, pair;
  };
  longshore::team& ranks = grid.ranks();
  std::vector<label> sent, received(receive_pairs_.size(), {-1, -1});
  for (const auto i : send_pairs_) sent.push_back({ranks.rank(), static_cast<int>(i)});
  if (sent.empty()) sent.reserve(1);  // MPICH refuses null pointers even for no data
  if (received.empty()) received.reserve(1);
  {
    const auto deadline = limit_time();
    check(MPI_Neighbor_alltoall(sent.data(), 2, MPI_INT, received.data(), 2, MPI_INT,
                                neighbours_.get()),
          "MPI_Neighbor_alltoall");
  }
  // The rank from which pair i receives. The grid tells this rank even for sides without halo,
  // which have edges and labels, but no messages.
  const auto source = [&](std::size_t i) {
    return grid.neighbour(round()[i].direction.opposite());
  };
  int wrong = 0;
  std::vector<bool> seen(count(), false);
  for (std::size_t k = 0; k < received.size(); ++k) {
    if (source(receive_pairs_[k]) < 0) continue;
    const auto pair = static_cast<std::size_t>(received[k].pair);
    const bool is_right =
        received[k].pair >= 0 && pair < count() && received[k].rank == source(pair) && !seen[pair];
    if (is_right)
      receive_pairs_[k] = pair, seen[pair] = true;
    else
      ++wrong;
  }
  if (ranks.allreduce_value(wrong, reduction::max) > 0)
    fail(errc::unsupported,
         "the neighbourhood collectives of {} deliver wrong blocks on a grid of {},{},{} ranks",
         ranks.library_version(), grid.shape()[0], grid.shape()[1], grid.shape()[2]);
}

void neighbor_backend::start() {
  const auto deadline = limit_time();
  if (without_packing_) {
    // Block 0 is the outgoing message of pair 0, and the incoming message of the opposite pair. All
    // other blocks follow in memory (needs_no_packing).
    const int bytes = outgoing(0).bytes;
    check(MPI_Neighbor_alltoall(outgoing(0).data, bytes, MPI_BYTE, incoming(opposite(0)).data,
                                bytes, MPI_BYTE, neighbours_.get()),
          "MPI_Neighbor_alltoall");
    return;
  }
  for (const auto i : send_pairs_) pack(i);
  std::byte nothing{};
  std::byte* const messages = buffer() == nullptr ? &nothing : buffer();
  check(MPI_Neighbor_alltoallv(messages, send_bytes_.data(), send_offsets_.data(), MPI_BYTE,
                               messages, receive_bytes_.data(), receive_offsets_.data(), MPI_BYTE,
                               neighbours_.get()),
        "MPI_Neighbor_alltoallv");
  unpack_all();
}

const std::byte* neighbor_backend::received(std::size_t pair) const {
  if (!without_packing_) return mode_backend::received(pair);
  const auto block = static_cast<std::size_t>(
      std::find(receive_pairs_.begin(), receive_pairs_.end(), pair) - receive_pairs_.begin());
  return static_cast<const std::byte*>(incoming(opposite(0)).data) +
         block * static_cast<std::size_t>(outgoing(0).bytes);
}

}  // namespace

made_backend make_neighbor_backend(const round_setup& setup) {
  return std::make_unique<neighbor_backend>(setup);
}

}  // namespace longshore::mpi
