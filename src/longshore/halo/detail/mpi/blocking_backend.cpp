// The modes that exchange one message pair after another, as programs do that exchange one side at a
// time: sendrecv, redblack, isend-recv, irecv-send and pairwise. The call sequences are those of
// halobench (github.com/davidhenty/halobench, haloswap.f90).
//
// Cost: one dependent step per message pair (6 or 26). start() blocks until all messages have
// arrived.
#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {
namespace {

class blocking_backend final : public mode_backend {
 public:
  blocking_backend(halo_mode mode, const round_setup& setup) : mode_backend(setup), mode_(mode) {
    if (mode == halo_mode::redblack) choose_colours(setup.grid);
  }
  void start() override {
    const auto deadline = limit_time();
    for (std::size_t i = 0; i < count(); ++i) exchange(i);
    unpack_all();
  }

 private:
  void exchange(std::size_t pair);
  void exchange_by_colour(std::size_t pair);
  void choose_colours(const rank_grid& grid);
  void send_and_receive(std::size_t pair);
  void send(std::size_t pair) {
    pack(pair);
    const auto& out = outgoing(pair);
    check(MPI_Send(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm()), "MPI_Send");
  }
  void receive(std::size_t pair) {
    const auto& in = incoming(pair);
    check(MPI_Recv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  void start_send(std::size_t pair, MPI_Request& request) {
    pack(pair);
    const auto& out = outgoing(pair);
    check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &request),
          "MPI_Isend");
  }
  void start_receive(std::size_t pair, MPI_Request& request) {
    const auto& in = incoming(pair);
    check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &request), "MPI_Irecv");
  }

  halo_mode mode_;
  // Of mode redblack, indexed by message pair. `is_self_` tells that the peer is this rank.
  std::vector<bool> is_red_, is_self_;
};

void blocking_backend::exchange(std::size_t pair) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  switch (mode_) {
    case halo_mode::redblack: return exchange_by_colour(pair);
    case halo_mode::isend_recv:
      start_send(pair, requests[0]);
      receive(pair);
      return check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
    case halo_mode::irecv_send:
      start_receive(pair, requests[0]);
      send(pair);
      return check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
    case halo_mode::pairwise:
      start_receive(pair, requests[0]);
      start_send(pair, requests[1]);
      return check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    default: return send_and_receive(pair);
  }
}

void blocking_backend::send_and_receive(std::size_t pair) {
  pack(pair);
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  check(MPI_Sendrecv(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, in.data, in.bytes, MPI_BYTE,
                     in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

// Red ranks send, then receive; black ranks receive, then send. Through faces the colour of a rank
// is the parity of the sum of its coordinates. Two neighbours through an edge may have the same
// sum. So through edges and corners the colour is the parity of the first coordinate in which the
// neighbours differ. Around a periodic dimension their coordinates differ by an odd number, because
// why_not() in mode.cpp refuses odd numbers of ranks there. So neighbours have different colours.
void blocking_backend::choose_colours(const rank_grid& grid) {
  const auto& coordinates = grid.coordinates();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& direction = round()[i].direction;
    // The first dimension in which the peer's coordinate differs, or 3 if the peer is this rank.
    int first_different = 0;
    while (first_different < 3 &&
           (direction.step[first_different] == 0 || grid.shape()[first_different] == 1))
      ++first_different;
    is_self_.push_back(first_different == 3);
    int number = 0;  // has no effect if the peer is this rank
    if (direction.step_count() == 1)
      number = coordinates[0] + coordinates[1] + coordinates[2];
    else if (first_different < 3)
      number = coordinates[first_different];
    is_red_.push_back(number % 2 == 0);
  }
}

// A red rank sends in the pair's direction, and then receives from the same side. The neighbour on
// that side is black and does the reverse. If both ends sent first, both could wait for ever, and
// so would a rank that sent to itself.
void blocking_backend::exchange_by_colour(std::size_t pair) {
  if (is_self_[pair]) return send_and_receive(pair);
  if (is_red_[pair]) {
    send(pair);
    receive(opposite(pair));
  } else {
    receive(pair);
    send(opposite(pair));
  }
}

}  // namespace

made_backend make_blocking_backend(halo_mode mode, const round_setup& setup) {
  return std::make_unique<blocking_backend>(mode, setup);
}

}  // namespace longshore::mpi
