#include <longshore/halo/detail/mpi/leg_by_leg.hpp>

namespace longshore::mpi {

void sendrecv::exchange(std::size_t leg) { send_and_receive(leg); }

void leg_by_leg::send_and_receive(std::size_t leg) {
  pack(leg);
  const auto& out = outgoing(leg);
  const auto& in = incoming(leg);
  check(MPI_Sendrecv(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, in.data, in.bytes, MPI_BYTE,
                     in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

redblack::redblack(const rank_grid& grid, detail::halo_round round, const lane& where,
                   tasks* workers)
    : leg_by_leg(grid, std::move(round), where, workers) {
  const auto& at = grid.coordinates();
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& direction = this->round()[i].direction;
    int first = 0;  // dimension that the leg leaves this rank by; none where it leads back to it
    while (first < 3 && (direction.step[first] == 0 || grid.shape()[first] == 1)) ++first;
    const int parity = direction.moves() == 1 ? at[0] + at[1] + at[2] : first < 3 ? at[first] : 0;
    is_red_.push_back(parity % 2 == 0);
    is_own_.push_back(first == 3);
  }
}

// A red rank sends in the leg's direction and receives from the same side; its partner there is
// black, and does the reverse. A rank that is its own neighbour, alone along a periodic dimension,
// has no partner: a blocking send to itself would wait for ever.
void redblack::exchange(std::size_t leg) {
  if (is_own_[leg]) {
    send_and_receive(leg);
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
  if (is_red_[leg]) {
    send(leg);
    receive(opposite(leg));
  } else {
    receive(leg);
    send(opposite(leg));
  }
}

void isend_recv::exchange(std::size_t leg) {
  pack(leg);
  const auto& out = outgoing(leg);
  const auto& in = incoming(leg);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &request), "MPI_Isend");
  check(MPI_Recv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Recv");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void irecv_send::exchange(std::size_t leg) {
  const auto& out = outgoing(leg);
  const auto& in = incoming(leg);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &request), "MPI_Irecv");
  pack(leg);
  check(MPI_Send(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm()), "MPI_Send");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

void pairwise::exchange(std::size_t leg) {
  const auto& out = outgoing(leg);
  const auto& in = incoming(leg);
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &requests[0]), "MPI_Irecv");
  pack(leg);
  check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &requests[1]),
        "MPI_Isend");
  check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace longshore::mpi
