// The MPI calls of the modes that exchange one message pair after another: sendrecv, redblack,
// isend-recv, irecv-send and pairwise.
#include <longshore/halo/detail/mpi/blocking_backend.hpp>

namespace longshore::mpi {

void sendrecv_backend::exchange(std::size_t pair) { send_and_receive(pair); }

void blocking_backend::send_and_receive(std::size_t pair) {
  pack(pair);
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  check(MPI_Sendrecv(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, in.data, in.bytes, MPI_BYTE,
                     in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

redblack_backend::redblack_backend(const round_setup& setup) : blocking_backend(setup) {
  const auto& coordinates = setup.grid.coordinates();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& direction = round()[i].direction;
    // The first dimension in which the peer's coordinate differs, or 3 if the peer is this rank.
    int first_different = 0;
    while (first_different < 3 &&
           (direction.step[first_different] == 0 || setup.grid.shape()[first_different] == 1))
      ++first_different;
    is_self_.push_back(first_different == 3);
    // The peer's number differs from this number by 1, or by an odd number around a periodic
    // dimension: why_not() in mode.cpp refuses odd numbers of ranks there.
    int number = 0;  // has no effect if the peer is this rank
    if (direction.step_count() == 1)
      number = coordinates[0] + coordinates[1] + coordinates[2];
    else if (first_different < 3)
      number = coordinates[first_different];
    is_red_.push_back(number % 2 == 0);
  }
}

// A red rank sends in the pair's direction, and then receives from the same side. The neighbour on
// that side is black, as the constructor ensures, and does the reverse. If both ends sent first,
// both could wait for ever, and so would a rank that sent to itself.
void redblack_backend::exchange(std::size_t pair) {
  if (is_self_[pair]) {
    send_and_receive(pair);
    return;
  }
  const auto send = [&](std::size_t i) {
    pack(i);
    const auto& out = outgoing(i);
    check(MPI_Send(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm()), "MPI_Send");
  };
  const auto receive = [&](std::size_t i) {
    const auto& in = incoming(i);
    check(MPI_Recv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  };
  if (is_red_[pair]) {
    send(pair);
    receive(opposite(pair));
  } else {
    receive(pair);
    send(opposite(pair));
  }
}

void isend_recv_backend::exchange(std::size_t pair) {
  pack(pair);
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &request), "MPI_Isend");
  check(MPI_Recv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Recv");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void irecv_send_backend::exchange(std::size_t pair) {
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &request), "MPI_Irecv");
  pack(pair);
  check(MPI_Send(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm()), "MPI_Send");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void pairwise_backend::exchange(std::size_t pair) {
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &requests[0]), "MPI_Irecv");
  pack(pair);
  check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &requests[1]),
        "MPI_Isend");
  check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace longshore::mpi
