#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>

namespace longshore::mpi {

nonblocking_backend::nonblocking_backend(const rank_grid& grid, detail::halo_round round,
                                         const round_communicator& tags, tasks* workers,
                                         buffering which)
    : mode_backend(grid, std::move(round), tags, workers, which),
      requests_(2 * count(), MPI_REQUEST_NULL) {}

bool nonblocking_backend::test() {
  if (!in_flight_) return true;
  int done = 0;
  check(
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
      "MPI_Testall");
  if (done == 0) return false;
  in_flight_ = false;
  unpack_all();
  return true;
}

void nonblocking_backend::wait() {
  if (!in_flight_) return;
  {
    const auto deadline = guarded();
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }
  in_flight_ = false;
  unpack_all();
}

void waitall_backend::start() {
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& in = incoming(i);
    check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &requests_[i]),
          "MPI_Irecv");
  }
  for (std::size_t i = 0; i < count(); ++i) {
    pack(i);
    const auto& out = outgoing(i);
    check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(),
                    &requests_[count() + i]),
          "MPI_Isend");
  }
  in_flight_ = true;
}

persistent_backend::persistent_backend(const rank_grid& grid, detail::halo_round round,
                                       const round_communicator& tags, tasks* workers)
    : nonblocking_backend(grid, std::move(round), tags, workers) {
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& in = incoming(i);
    check(MPI_Recv_init(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &requests_[i]),
          "MPI_Recv_init");
  }
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& out = outgoing(i);
    check(MPI_Send_init(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(),
                        &requests_[count() + i]),
          "MPI_Send_init");
  }
}

persistent_backend::~persistent_backend() {
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void persistent_backend::start() {
  for (std::size_t i = 0; i < count(); ++i) pack(i);
  check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
  in_flight_ = true;
}

}  // namespace longshore::mpi
