// Memory that the ranks of a node share: an MPI shared window, all of it allocated by the first
// rank of the node.
//
// Why by one rank: the parts then lie at a fixed distance, and MPI libraries and simulators exist
// that give every rank the first part when all parts have one size. The pages still go to the NUMA
// node of the rank that first writes them.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/communicator.hpp>

#include <cstddef>

namespace longshore::mpi {

class node_memory {
 public:
  /// Collective over `node`. `part_bytes` must be the same on all its ranks, which know already
  /// that the memory is there (team::agree_on_memory). A node of one rank gets private memory,
  /// without a window.
  node_memory(const communicator& node, std::size_t part_bytes);
  ~node_memory();
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;

  /// The part of the rank at `local_index` in the node; aligned to a page, zero before the first
  /// write.
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
