// A communicator of the first ranks of MPI_COMM_WORLD, for tests that run with several numbers of
// ranks after one start.
#pragma once

#include <longshore/transport/mpi/detail/communicator.hpp>
#include <longshore/transport/mpi/run.hpp>

#include <chrono>
#include <functional>
#include <thread>

namespace longshore::mpi {

class first_ranks {
 public:
  /// Collective over MPI_COMM_WORLD. REQUIRES: MPI is running.
  explicit first_ranks(int ranks) {
    int rank = 0;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    ranks_ = communicator::split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED);
  }
  /// Collective over MPI_COMM_WORLD. Waits for the first ranks. Sleeps between tests, so that the
  /// first ranks have the cores.
  ~first_ranks() {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
  }
  first_ranks(const first_ranks&) = delete;
  first_ranks& operator=(const first_ranks&) = delete;

  /// Whether this rank is one of the first ranks.
  [[nodiscard]] bool include_this() const noexcept { return ranks_.get() != MPI_COMM_NULL; }
  void run(const run_options& options, const std::function<void(longshore::team&)>& body) const {
    const MPI_Comm comm = ranks_.get();
    mpi::run(&comm, options, body);
  }

 private:
  communicator ranks_;
};

}  // namespace longshore::mpi
