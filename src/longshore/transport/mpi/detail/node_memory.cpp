// Allocates memory that the ranks of a node share, as a shared window of MPI.
#include <longshore/core/bytes.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/mpi/detail/node_memory.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace longshore::mpi {

node_memory::node_memory(const communicator& node, std::size_t part_bytes)
    : stride_bytes_(round_up(std::max<std::size_t>(part_bytes, 1), page_bytes())),
      unwinding_(std::uncaught_exceptions()) {
  const auto ranks = static_cast<std::size_t>(node.size());
  if (ranks == 1) {
    private_ = pages(stride_bytes_);
    base_ = private_.data();
    return;
  }
  const std::size_t bytes = node.rank() == 0 ? ranks * stride_bytes_ + page_bytes() : 0;
  void* own_part = nullptr;
  const int status = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL,
                                             node.get(), &own_part, &window_);
  if (status != MPI_SUCCESS)  // libraries do not say that /dev/shm is full
    check(status, fmt::format("MPI_Win_allocate_shared of {} bytes ({} are free in /dev/shm{})",
                              ranks * stride_bytes_, available_shared_memory_bytes(),
                              small_shared_memory_remedy())
                      .c_str());
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  MPI_Aint size = 0;
  int unit = 0;
  void* first_part = nullptr;
  check(MPI_Win_shared_query(window_, 0, &size, &unit, &first_part), "MPI_Win_shared_query");
  window_begin_ = static_cast<std::byte*>(first_part);
  base_ = reinterpret_cast<std::byte*>(
      round_up(reinterpret_cast<std::uintptr_t>(first_part), page_bytes()));
  // Has an effect only if the system allows huge pages for shared memory.
  prefer_huge_pages(base_, ranks * stride_bytes_);
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

node_memory::~node_memory() {
  // During an exception the other ranks may never free the window. The run is being aborted, and
  // its end frees the window.
  if (window_ == MPI_WIN_NULL || has_ended() || std::uncaught_exceptions() > unwinding_) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

}  // namespace longshore::mpi
