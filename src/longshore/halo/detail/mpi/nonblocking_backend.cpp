// The MPI calls of the modes waitall and persistent, and the completion of requests for all modes
// whose messages are in flight together.
#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>

namespace longshore::mpi {

nonblocking_backend::nonblocking_backend(const round_setup& setup, buffering buffered)
    : mode_backend(setup, buffered), requests_(2 * count(), MPI_REQUEST_NULL) {}

nonblocking_backend::~nonblocking_backend() {
  if (has_ended()) return;
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

bool nonblocking_backend::test() {
  if (!in_flight_) return true;
  if (!test_all(requests_)) return false;
  in_flight_ = false;
  unpack_all();
  return true;
}

void nonblocking_backend::wait() {
  if (!in_flight_) return;
  {
    const auto deadline = limit_time();
    wait_all(requests_);
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

persistent_backend::persistent_backend(const round_setup& setup) : nonblocking_backend(setup) {
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

void persistent_backend::start() {
  for (std::size_t i = 0; i < count(); ++i) pack(i);
  check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
  in_flight_ = true;
}

}  // namespace longshore::mpi
