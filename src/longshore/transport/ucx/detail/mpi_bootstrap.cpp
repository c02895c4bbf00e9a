// Exchanges the addresses of processes through MPI, by nonblocking calls with a deadline.
#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/detail/mpi_bootstrap.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace longshore::ucx {
namespace {

constexpr int tag = 7713;  // unlikely to be a tag of the program's messages

void check(int status, const char* call) {
  if (status != MPI_SUCCESS) fail(errc::transport, "{} failed with status {}", call, status);
}

}  // namespace

// MPI_Init and MPI_Finalize wait for other processes without a deadline, so a watchdog adds one.
mpi_bootstrap::mpi_bootstrap(double timeout_seconds) {
  set_deadline(timeout_seconds);
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int provided = 0;
    const watched_call limit(timeout_seconds, "MPI_Init_thread");
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    owns_mpi_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

mpi_bootstrap::~mpi_bootstrap() {
  if (!owns_mpi_) return;
  const watched_call limit(deadline_seconds_, "MPI_Finalize");
  MPI_Finalize();
}

void mpi_bootstrap::complete(void* request, const char* operation) {
  for (const double began = monotonic_seconds();;) {
    int done = 0;
    check(MPI_Test(static_cast<MPI_Request*>(request), &done, MPI_STATUS_IGNORE), operation);
    if (done != 0) return;
    pause(began);
  }
}

void mpi_bootstrap::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  complete(&request, "MPI_Ibarrier");
}

// Bruck et al. 1997: before the step with distance d, rank r has the blocks of ranks r to r+d-1. In
// this step it gets the next d blocks from rank r+d. MPI_Iallgather is not used: in Open MPI 4.1 it
// would connect each rank with all ranks.
void mpi_bootstrap::allgather_blocks(std::byte* blocks, std::span<const std::size_t> ends) {
  for (int distance = 1; distance < size_; distance *= 2) {
    const auto have = static_cast<std::size_t>(distance),
               more = static_cast<std::size_t>(std::min(distance, size_ - distance));
    MPI_Request incoming = MPI_REQUEST_NULL, outgoing = MPI_REQUEST_NULL;
    check(
        MPI_Irecv(blocks + ends[have - 1], static_cast<int>(ends[have + more - 1] - ends[have - 1]),
                  MPI_BYTE, (rank_ + distance) % size_, tag, MPI_COMM_WORLD, &incoming),
        "MPI_Irecv");
    check(MPI_Isend(blocks, static_cast<int>(ends[more - 1]), MPI_BYTE,
                    (rank_ - distance + size_) % size_, tag, MPI_COMM_WORLD, &outgoing),
          "MPI_Isend");
    complete(&incoming, "MPI_Irecv");
    complete(&outgoing, "MPI_Isend");
  }
}

std::vector<std::uint64_t> mpi_bootstrap::allgather(std::uint64_t mine) {
  std::vector<std::uint64_t> blocks(size_, mine), gathered(blocks);
  std::vector<std::size_t> ends(blocks.size());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = (i + 1) * sizeof mine;
  allgather_blocks(reinterpret_cast<std::byte*>(blocks.data()), ends);
  // blocks[i] is of rank rank_ + i, cyclically.
  std::rotate_copy(blocks.begin(), blocks.end() - rank_, blocks.end(), gathered.begin());
  return gathered;
}

void mpi_bootstrap::publish(std::span<const std::byte> mine) {
  const auto sizes = allgather(mine.size());
  ends_.clear();
  std::size_t end = 0;
  for (int i = 0; i < size_; ++i) ends_.push_back(end += sizes[(rank_ + i) % size_]);
  if (end > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(errc::transport, "the addresses of {} ranks have {} bytes: more than MPI can send at once",
         size_, end);
  published_.resize(end);
  std::memcpy(published_.data(), mine.data(), mine.size());
  allgather_blocks(published_.data(), ends_);
}

std::span<const std::byte> mpi_bootstrap::published_by(int rank) {
  const auto i = static_cast<std::size_t>((rank - rank_ + size_) % size_);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::span(published_).subspan(begin, ends_[i] - begin);
}

void mpi_bootstrap::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace longshore::ucx
