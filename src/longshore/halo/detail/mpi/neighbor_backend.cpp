#include <longshore/halo/detail/mpi/neighbor_backend.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// Whether the round has all faces, in the order of the blocks of a Cartesian communicator.
bool has_all_faces(const detail::halo_round& round, int dimensions) {
  const auto faces = face_directions(dimensions);
  return std::equal(round.begin(), round.end(), faces.begin(), faces.end(),
                    [](const detail::shift_messages& pair, const halo_direction& face) {
                      return pair.direction == face;
                    });
}

// Whether the messages are the faces, in the order of the blocks (down, up, dimension by
// dimension), of equal size, contiguous, and adjacent in memory, both outgoing and incoming.
// Received block k comes from the side that pair k leaves by, and so is the incoming message of
// pair k ^ 1.
bool goes_without_packing(const detail::halo_round& round, int dimensions) {
  if (!has_all_faces(round, dimensions)) return false;
  const std::size_t bytes = round[0].outgoing.size_bytes();
  const std::byte* const send = round[0].outgoing.contiguous();
  const std::byte* const receive = round[1].incoming.contiguous();
  const auto lies = [&](const detail::halo_message& message, const std::byte* begin,
                        std::size_t block) {
    return message.exists() && message.size_bytes() == bytes && begin != nullptr &&
           message.contiguous() == begin + block * bytes;
  };
  for (std::size_t k = 0; k < round.size(); ++k)
    if (!lies(round[k].outgoing, send, k) || !lies(round[k ^ 1].incoming, receive, k)) return false;
  return true;
}

// All ranks must make the same collective call, although a rank at a border has fewer messages than
// one inside, and each rank has its own memory.
bool all_go_without_packing(const rank_grid& grid, const detail::halo_round& round) {
  return grid.ranks().allreduce_value<int>(goes_without_packing(round, grid.dimensions()),
                                           reduction::min) != 0;
}

}  // namespace

neighbor_backend::neighbor_backend(const rank_grid& grid, detail::halo_round round,
                                   const round_communicator& tags, tasks* workers)
    : neighbor_backend(grid, std::move(round), tags, workers, all_go_without_packing(grid, round)) {
}

neighbor_backend::neighbor_backend(const rank_grid& grid, detail::halo_round round,
                                   const round_communicator& tags, tasks* workers,
                                   bool without_packing)
    : mode_backend(grid, std::move(round), tags, workers,
                   without_packing ? buffering::strided : buffering::all),
      without_packing_(without_packing) {
  if (has_all_faces(mode_backend::round(), grid.dimensions()))
    make_cartesian(grid);
  else
    make_graph();
  learn_block_order(grid);
  if (without_packing_) return;
  const auto place = [this](const call_arguments& end, std::vector<int>& bytes,
                            std::vector<int>& offsets) {
    const bool exists = end.rank != MPI_PROC_NULL;
    bytes.push_back(end.bytes);
    offsets.push_back(
        exists ? mpi::count(static_cast<std::size_t>(static_cast<std::byte*>(end.data) - buffer()),
                            "a halo message")
               : 0);
  };
  for (const auto i : send_pairs_) place(outgoing(i), send_bytes_, send_offsets_);
  for (const auto i : receive_pairs_) place(incoming(i), receive_bytes_, receive_offsets_);
  for (auto* const list : {&send_bytes_, &send_offsets_, &receive_bytes_, &receive_offsets_})
    list->reserve(1);
}

// MPI numbers the ranks of a Cartesian grid with the last dimension fastest. Here the dimensions
// are given in reverse, so that x is fastest, and the ranks are renumbered to match their
// placement. Blocks then have the order of face_directions: down and up for each dimension. Block k
// is sent in direction k and received from that side.
void neighbor_backend::make_cartesian(const rank_grid& grid) {
  std::array<int, 3> sizes{}, periods{};
  const int dimensions = grid.dimensions();
  for (int d = 0; d < dimensions; ++d) {
    sizes[dimensions - 1 - d] = grid.shape()[d];
    periods[dimensions - 1 - d] = grid.periodic()[d] ? 1 : 0;
  }
  MPI_Comm made = MPI_COMM_NULL;
  const auto& at = grid.coordinates();
  MPI_Comm numbered = MPI_COMM_NULL;
  check(MPI_Comm_split(comm(), 0, at[0] + grid.shape()[0] * (at[1] + grid.shape()[1] * at[2]),
                       &numbered),
        "MPI_Comm_split");
  const communicator in_grid_order(numbered);
  check(MPI_Cart_create(in_grid_order.get(), dimensions, sizes.data(), periods.data(), 0, &made),
        "MPI_Cart_create");
  neighbours_ = communicator(made);
  for (std::size_t i = 0; i < count(); ++i) {
    send_pairs_.push_back(i);
    receive_pairs_.push_back(opposite(i));
  }
}

// Sources and destinations are in the order of the directions of travel, the same on all ranks. So
// the n-th edge that a rank names to another is the n-th that the other names from it.
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
  MPI_Comm made = MPI_COMM_NULL;
  check(
      MPI_Dist_graph_create_adjacent(comm(), static_cast<int>(sources.size()), sources.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                     destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
      "MPI_Dist_graph_create_adjacent");
  neighbours_ = communicator(made);
}

// Sends (rank, pair) along every edge. The labels that arrive say to which pair each block belongs
// in this library.
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
    const auto deadline = guarded();
    check(MPI_Neighbor_alltoall(sent.data(), 2, MPI_INT, received.data(), 2, MPI_INT,
                                neighbours_.get()),
          "MPI_Neighbor_alltoall");
  }
  // Edges without cells, on sides without halo, have a label, too.
  const auto source = [&](std::size_t i) {
    return grid.neighbour(mode_backend::round()[i].direction.opposite());
  };
  int wrong = 0;
  std::vector<bool> seen(count(), false);
  for (std::size_t k = 0; k < received.size(); ++k) {
    if (source(receive_pairs_[k]) < 0) continue;
    const auto found = static_cast<std::size_t>(received[k].pair);
    const bool is_right = received[k].pair >= 0 && found < count() &&
                          received[k].rank == source(found) && !seen[found];
    if (is_right)
      receive_pairs_[k] = found, seen[found] = true;
    else
      ++wrong;
  }
  if (ranks.allreduce_value(wrong, reduction::max) > 0)
    fail(errc::unsupported,
         "the neighbourhood collectives of {} deliver wrong blocks on a grid of {},{},{} ranks",
         ranks.library_version(), grid.shape()[0], grid.shape()[1], grid.shape()[2]);
}

void neighbor_backend::start() {
  const auto deadline = guarded();
  if (without_packing_) {
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

}  // namespace longshore::mpi
