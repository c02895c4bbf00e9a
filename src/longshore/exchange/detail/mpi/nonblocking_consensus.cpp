// Algorithm NBX of T. Hoefler, C. Siebert, A. Lumsdaine (PPoPP 2010). A rank sends empty
// synchronous messages. When all its messages were received, it enters a nonblocking barrier. It
// receives messages until the barrier is complete. Then no message is in flight.
#include <longshore/exchange/detail/agreement/learn_sources.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore::mpi {

std::vector<int> nonblocking_consensus(longshore::team& ranks, std::span<const int> destinations) {
  const auto comm = communicator::duplicate(communicator_of(ranks));
  // MPICH refuses null pointers even for empty messages, and for empty lists of requests.
  std::byte nothing{};
  std::vector<MPI_Request> sends(destinations.size());
  sends.reserve(1);
  for (std::size_t i = 0; i < sends.size(); ++i)
    check(MPI_Issend(&nothing, 0, MPI_BYTE, destinations[i], 0, comm.get(), &sends[i]),
          "MPI_Issend");
  std::vector<int> sources;
  const auto receive = [&] {
    int has_arrived = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm.get(), &has_arrived, &status), "MPI_Iprobe");
    if (has_arrived == 0) return false;
    check(MPI_Recv(&nothing, 0, MPI_BYTE, status.MPI_SOURCE, 0, comm.get(), MPI_STATUS_IGNORE),
          "MPI_Recv");
    sources.push_back(status.MPI_SOURCE);
    return true;
  };
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool has_entered = false;
  const auto is_complete = [&] {
    while (receive()) {
    }
    if (!has_entered) {
      if (!test_all(sends)) return false;
      check(MPI_Ibarrier(comm.get(), &barrier), "MPI_Ibarrier");
      has_entered = true;
    }
    int is_done = 0;
    check(MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  };
  for (waiter wait(ranks, "ranks to say whose elements they need"); !is_complete(); wait.pause()) {
  }
  return sources;
}

}  // namespace longshore::mpi
