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

redblack_backend::redblack_backend(const rank_grid& grid, detail::halo_round round,
                                   const round_communicator& tags, tasks* workers)
    : blocking_backend(grid, std::move(round), tags, workers) {
  const auto& at = grid.coordinates();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& direction = this->round()[i].direction;
    int first =
        0;  // first dimension in which the peer's coordinate differs; 3: the peer is this rank
    while (first < 3 && (direction.step[first] == 0 || grid.shape()[first] == 1)) ++first;
    const int parity = direction.moves() == 1 ? at[0] + at[1] + at[2] : first < 3 ? at[first] : 0;
    is_red_.push_back(parity % 2 == 0);
    is_own_.push_back(first == 3);
  }
}

// A red rank sends in the pair's direction and receives from the same side. Its partner there is
// black and does the reverse. A rank that is its own neighbour has no partner, and a blocking send
// to itself would never return.
void redblack_backend::exchange(std::size_t pair) {
  if (is_own_[pair]) {
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
