#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/mpi_group.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace longshore::ucx {
namespace {

constexpr int tag = 7713;  // the program may have messages of its own under way

void check(int status, const char* call) {
  if (status != MPI_SUCCESS) fail(errc::transport, "{} failed with status {}", call, status);
}

}  // namespace

// MPI waits for other processes in its start and its end, without a deadline of its own.
mpi_group::mpi_group(double timeout_seconds) {
  set_deadline(timeout_seconds);
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int provided = 0;
    const watched_call limit(timeout_seconds, "MPI_Init_thread");
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    own_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

mpi_group::~mpi_group() {
  if (!own_) return;
  const watched_call limit(deadline_seconds_, "MPI_Finalize");
  MPI_Finalize();
}

void mpi_group::complete(void* request, const char* operation) {
  for (const double began = monotonic_seconds();;) {
    int done = 0;
    check(MPI_Test(static_cast<MPI_Request*>(request), &done, MPI_STATUS_IGNORE), operation);
    if (done != 0) return;
    pause(began);
  }
}

void mpi_group::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  complete(&request, "MPI_Ibarrier");
}

// Bruck et al. 1997: who has the blocks of d ranks from itself on gets those of the next d ranks
// from the rank d after it. (MPI_Iallgather of Open MPI 4.1 is linear: each rank would be connected
// with all.)
void mpi_group::gather_blocks(std::byte* row, std::span<const std::size_t> ends) {
  for (int distance = 1; distance < size_; distance *= 2) {
    const auto have = static_cast<std::size_t>(distance),
               more = static_cast<std::size_t>(std::min(distance, size_ - distance));
    MPI_Request incoming = MPI_REQUEST_NULL, outgoing = MPI_REQUEST_NULL;
    check(MPI_Irecv(row + ends[have - 1], static_cast<int>(ends[have + more - 1] - ends[have - 1]),
                    MPI_BYTE, (rank_ + distance) % size_, tag, MPI_COMM_WORLD, &incoming),
          "MPI_Irecv");
    check(MPI_Isend(row, static_cast<int>(ends[more - 1]), MPI_BYTE,
                    (rank_ - distance + size_) % size_, tag, MPI_COMM_WORLD, &outgoing),
          "MPI_Isend");
    complete(&incoming, "MPI_Irecv");
    complete(&outgoing, "MPI_Isend");
  }
}

std::vector<std::uint64_t> mpi_group::gather(std::uint64_t mine) {
  std::vector<std::uint64_t> row(static_cast<std::size_t>(size_), mine), all(row);
  std::vector<std::size_t> ends(row.size());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = (i + 1) * sizeof mine;
  gather_blocks(reinterpret_cast<std::byte*>(row.data()), ends);
  std::rotate_copy(row.begin(), row.end() - rank_, row.end(), all.begin());
  return all;
}

void mpi_group::publish(std::span<const std::byte> mine) {
  const auto sizes = gather(mine.size());
  ends_.clear();
  std::size_t end = 0;
  for (int i = 0; i < size_; ++i)
    ends_.push_back(end += sizes[static_cast<std::size_t>((rank_ + i) % size_)]);
  if (end > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(errc::transport, "the addresses of {} ranks are {} bytes: more than MPI sends at once",
         size_, end);
  published_.resize(end);
  std::memcpy(published_.data(), mine.data(), mine.size());
  gather_blocks(published_.data(), ends_);
}

std::span<const std::byte> mpi_group::of_rank(int rank) {
  const auto i = static_cast<std::size_t>((rank - rank_ + size_) % size_);
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::span(published_).subspan(begin, ends_[i] - begin);
}

void mpi_group::end_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace longshore::ucx
