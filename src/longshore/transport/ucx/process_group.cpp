#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/process_group.hpp>

#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace longshore::ucx {
namespace {

void check(int status, const char* call) {
  if (status != MPI_SUCCESS) fail(errc::transport, "{} failed with status {}", call, status);
}

}  // namespace

process_group::process_group() {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    own_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

process_group::~process_group() {
  if (own_) MPI_Finalize();
}

void process_group::complete(void* request, const char* operation) {
  for (int done = 0;;) {
    check(MPI_Test(static_cast<MPI_Request*>(request), &done, MPI_STATUS_IGNORE), operation);
    if (done != 0) return;
    progress_();
    sched_yield();
  }
}

void process_group::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  complete(&request, "MPI_Ibarrier");
}

std::vector<std::uint64_t> process_group::gather(std::uint64_t mine) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size_));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request), "MPI_Iallgather");
  complete(&request, "MPI_Iallgather");
  return all;
}

void process_group::publish(std::span<const std::byte> mine) {
  const auto sizes = gather(mine.size());
  std::vector<int> counts, displacements;
  starts_.assign(1, 0);
  for (const auto bytes : sizes) {
    counts.push_back(static_cast<int>(bytes));
    displacements.push_back(static_cast<int>(starts_.back()));
    starts_.push_back(starts_.back() + bytes);
  }
  if (starts_.back() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(errc::transport, "the addresses of {} ranks are {} bytes: more than MPI gathers", size_, starts_.back());
  published_.resize(starts_.back());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, published_.data(), counts.data(),
                        displacements.data(), MPI_BYTE, MPI_COMM_WORLD, &request),
        "MPI_Iallgatherv");
  complete(&request, "MPI_Iallgatherv");
}

std::span<const std::byte> process_group::of_rank(int rank) const {
  const auto i = static_cast<std::size_t>(rank);
  return std::span(published_).subspan(starts_[i], starts_[i + 1] - starts_[i]);
}

void process_group::end_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

void process_group::end_all(const char* why) {
  fmt::print(stderr, "longshore: rank {} of {}: transport: {}\n", rank_, size_, why);
  std::fflush(nullptr);
  end_all(3);
}

}  // namespace longshore::ucx
