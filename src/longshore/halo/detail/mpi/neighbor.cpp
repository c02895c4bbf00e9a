#include <longshore/halo/detail/mpi/neighbor.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// The blocks of a Cartesian communicator are those of all faces, in this order.
bool is_all_faces(const detail::halo_round& round, int dimensions) {
  const auto faces = face_directions(dimensions);
  return std::equal(round.begin(), round.end(), faces.begin(), faces.end(),
                    [](const detail::halo_leg& leg, const halo_direction& face) {
                      return leg.direction == face;
                    });
}

// Faces in the order of the blocks (down, up, dimension by dimension), equal, dense, and side by
// side on both sides. Block k of what is received comes from the side that leg k leaves by: it
// travels as the other leg of the pair does.
bool goes_without_packing(const detail::halo_round& round, int dimensions) {
  if (!is_all_faces(round, dimensions)) return false;
  const std::size_t bytes = round[0].outgoing.size_bytes();
  const std::byte* const send = round[0].outgoing.dense();
  const std::byte* const receive = round[1].incoming.dense();
  const auto lies = [&](const detail::halo_message& message, const std::byte* begin,
                        std::size_t block) {
    return message.exists() && message.size_bytes() == bytes && begin != nullptr &&
           message.dense() == begin + block * bytes;
  };
  for (std::size_t k = 0; k < round.size(); ++k)
    if (!lies(round[k].outgoing, send, k) || !lies(round[k ^ 1].incoming, receive, k)) return false;
  return true;
}

// It is another collective call: made by all ranks or by none. A rank at a border has fewer
// messages than one inside, and where cells lie in memory is each rank's own affair.
bool all_go_without_packing(const rank_grid& grid, const detail::halo_round& round) {
  return grid.ranks().allreduce_value<int>(goes_without_packing(round, grid.dimensions()),
                                           reduction::min) != 0;
}

}  // namespace

neighbor::neighbor(const rank_grid& grid, detail::halo_round round, const lane& where,
                   tasks* workers)
    : neighbor(grid, std::move(round), where, workers, all_go_without_packing(grid, round)) {}

neighbor::neighbor(const rank_grid& grid, detail::halo_round round, const lane& where,
                   tasks* workers, bool without_packing)
    : legs(grid, std::move(round), where, workers,
           without_packing ? by_buffer::where_needed : by_buffer::all),
      without_packing_(without_packing) {
  if (is_all_faces(legs::round(), grid.dimensions()))
    make_cartesian(grid);
  else
    make_graph();
  learn_order(grid);
  if (without_packing_) return;
  const auto place = [this](const message_end& end, std::vector<int>& bytes,
                            std::vector<int>& offsets) {
    const bool exists = end.rank != MPI_PROC_NULL;
    bytes.push_back(end.bytes);
    offsets.push_back(
        exists ? mpi::count(static_cast<std::size_t>(static_cast<std::byte*>(end.data) - buffer()),
                            "a halo message")
               : 0);
  };
  for (const auto i : send_legs_) place(outgoing(i), send_bytes_, send_offsets_);
  for (const auto i : receive_legs_) place(incoming(i), receive_bytes_, receive_offsets_);
  for (auto* const list : {&send_bytes_, &send_offsets_, &receive_bytes_, &receive_offsets_})
    list->reserve(1);
}

// MPI numbers ranks with the last dimension fastest, and is given the dimensions in reverse: so the
// first is. Where the grid places its ranks otherwise, they are numbered anew. Blocks are then in
// the order of face_directions: for each dimension down, up; block k is sent in direction k and
// received from that side.
void neighbor::make_cartesian(const rank_grid& grid) {
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
    send_legs_.push_back(i);
    receive_legs_.push_back(opposite(i));
  }
}

// Sources and destinations in the order of travel, the same on all ranks: the n-th edge from a rank
// to another is then the n-th that the other names from it.
void neighbor::make_graph() {
  std::vector<int> sources, destinations;
  for (std::size_t i = 0; i < count(); ++i) {
    if (outgoing(i).rank != MPI_PROC_NULL) {
      destinations.push_back(outgoing(i).rank);
      send_legs_.push_back(i);
    }
    if (incoming(i).rank != MPI_PROC_NULL) {
      sources.push_back(incoming(i).rank);
      receive_legs_.push_back(i);
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

// Sends (rank, leg) along every edge. What arrives says which leg each block belongs to in this
// library.
void neighbor::learn_order(const rank_grid& grid) {
  struct label {
    int rank, leg;
  };
  team& ranks = grid.ranks();
  std::vector<label> sent, came(receive_legs_.size(), {-1, -1});
  for (const auto i : send_legs_) sent.push_back({ranks.rank(), static_cast<int>(i)});
  if (sent.empty()) sent.reserve(1);  // MPICH refuses null pointers, also to nothing
  if (came.empty()) came.reserve(1);
  {
    const auto deadline = guarded();
    check(
        MPI_Neighbor_alltoall(sent.data(), 2, MPI_INT, came.data(), 2, MPI_INT, neighbours_.get()),
        "MPI_Neighbor_alltoall");
  }
  // Also edges along which no cells go, where a side has no halo, have a label.
  const auto source = [&](std::size_t i) {
    return grid.neighbour(legs::round()[i].direction.opposite());
  };
  int wrong = 0;
  std::vector<bool> seen(count(), false);
  for (std::size_t k = 0; k < came.size(); ++k) {
    if (source(receive_legs_[k]) < 0) continue;
    const auto found = static_cast<std::size_t>(came[k].leg);
    const bool is_right =
        came[k].leg >= 0 && found < count() && came[k].rank == source(found) && !seen[found];
    if (is_right)
      receive_legs_[k] = found, seen[found] = true;
    else
      ++wrong;
  }
  if (ranks.allreduce_value(wrong, reduction::max) > 0)
    fail(errc::unsupported,
         "the neighbourhood collectives of {} deliver wrong blocks on a grid of {},{},{} ranks",
         ranks.library_version(), grid.shape()[0], grid.shape()[1], grid.shape()[2]);
}

void neighbor::start() {
  const auto deadline = guarded();
  if (without_packing_) {
    const int bytes = outgoing(0).bytes;
    check(MPI_Neighbor_alltoall(outgoing(0).data, bytes, MPI_BYTE, incoming(opposite(0)).data,
                                bytes, MPI_BYTE, neighbours_.get()),
          "MPI_Neighbor_alltoall");
    return;
  }
  for (const auto i : send_legs_) pack(i);
  std::byte nothing{};
  std::byte* const messages = buffer() == nullptr ? &nothing : buffer();
  check(MPI_Neighbor_alltoallv(messages, send_bytes_.data(), send_offsets_.data(), MPI_BYTE,
                               messages, receive_bytes_.data(), receive_offsets_.data(), MPI_BYTE,
                               neighbours_.get()),
        "MPI_Neighbor_alltoallv");
  unpack_all();
}

const std::byte* neighbor::received(std::size_t leg) const {
  if (!without_packing_) return legs::received(leg);
  const auto block = static_cast<std::size_t>(
      std::find(receive_legs_.begin(), receive_legs_.end(), leg) - receive_legs_.begin());
  return static_cast<const std::byte*>(incoming(opposite(0)).data) +
         block * static_cast<std::size_t>(outgoing(0).bytes);
}

}  // namespace longshore::mpi
