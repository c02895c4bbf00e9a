// Segments over MPI: a shared window within the node, one-sided calls between nodes.
#pragma once

#include <longshore/transport/mpi/node_memory.hpp>
#include <longshore/transport/mpi/team.hpp>
#include <longshore/transport/segment.hpp>

#include <memory>

namespace longshore::mpi {

/// The memory of a segment: shared memory of the node, and with several nodes a window over all
/// ranks.
class segment_memory final : public collective_resource {
 public:
  segment_memory(team& team, std::unique_ptr<node_memory> memory, std::size_t bytes);
  void close(team& team) override;
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }

 private:
  std::unique_ptr<node_memory> memory_;
  MPI_Win window_ = MPI_WIN_NULL;  // null if all ranks share memory
};

class segment final : public longshore::segment {
 public:
  /// Collective over the team.
  segment(team& team, std::unique_ptr<node_memory> memory, std::size_t bytes);
  ~segment() override;

  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void quiet() override;

 private:
  team& team_;
  std::unique_ptr<segment_memory> memory_;
  MPI_Win window_;  // of memory_
  watchdog& watchdog_;
  bool pending_ = false;
  int unwinding_;
};

}  // namespace longshore::mpi
