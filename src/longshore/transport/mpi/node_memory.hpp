// Memory that the ranks of a node share: an MPI shared window. The first rank of the node allocates
// all of it, so that the parts lie at a fixed distance. Also, some MPI libraries and simulators
// give every rank the first part if each rank allocates a part of the same size. A page still lies
// on the NUMA node of the rank that writes it first.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/communicator.hpp>

#include <cstddef>

namespace longshore::mpi {

class node_memory {
 public:
  /// Collective over `node`. `part_bytes` must be the same on all its ranks. REQUIRES: the memory
  /// is available (team::agree_on_memory). A node of one rank gets private memory, without a
  /// window.
  node_memory(const communicator& node, std::size_t part_bytes);
  ~node_memory();
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;

  /// The part of the rank at `local_index` in the node, aligned to a page, zero at first.
  [[nodiscard]] std::byte* part(int local_index) const noexcept {
    return base_ + static_cast<std::size_t>(local_index) * stride_bytes_;
  }

 private:
  std::size_t stride_bytes_;
  std::byte* base_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  pages private_;
  int unwinding_;
};

}  // namespace longshore::mpi
