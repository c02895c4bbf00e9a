// Memory that the ranks of a node share: an MPI shared window. The first rank of the node allocates
// all parts, so that the distance between parts is fixed. If each rank allocated its own part, some
// MPI libraries and simulators would give every rank the first part. A page still lies on the NUMA
// node of the rank that first writes to the page.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>

#include <cstddef>

namespace longshore::mpi {

class node_memory {
 public:
  /// Collective over `node`. `part_bytes` must be the same on all ranks. REQUIRES: the memory is
  /// available (team::agree_on_memory). A node of one rank gets private memory.
  node_memory(const communicator& node, std::size_t part_bytes);
  ~node_memory();
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;

  /// The part of the rank at `local_index` in the node, aligned to a page, zero at first.
  [[nodiscard]] std::byte* part(int local_index) const noexcept {
    return base_ + local_index * stride_bytes_;
  }
  /// The window of the memory; null for a node of one rank. All parts belong to its rank 0.
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  /// Where part(local_index) begins in the window, in bytes.
  [[nodiscard]] MPI_Aint displacement(int local_index) const noexcept {
    return static_cast<MPI_Aint>(part(local_index) - window_begin_);
  }

 private:
  std::size_t stride_bytes_;
  std::byte *base_ = nullptr, *window_begin_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  pages private_;
  int unwinding_;
};

}  // namespace longshore::mpi
