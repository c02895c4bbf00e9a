// Segments over MPI: a shared window within the node, one-sided calls between nodes.
#pragma once

#include <longshore/transport/mpi/detail/node_memory.hpp>
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/segment.hpp>

#include <memory>
#include <optional>

namespace longshore::mpi {

/// The memory of a segment, and with several nodes a window over all ranks for one-sided calls.
///
/// If all nodes are virtual nodes of one host, the window is the shared memory itself, whose
/// one-sided calls take some 0.04 us. On a window of MPI_Win_create, each call to memory of another
/// process takes a system call, some 2 us (Open MPI 4.1). Ranks of other virtual nodes still get no
/// address for loads and stores.
class segment_memory final : public collective_resource {
 public:
  segment_memory(team& team, std::size_t bytes);
  /// The ranks that share the memory of a segment: the ranks of the host if all nodes are on one
  /// host, else the ranks of the node.
  [[nodiscard]] static const communicator& sharing_ranks(const team& team) {
    return team.host_comm().size() == team.size() ? team.host_comm() : team.node_comm();
  }
  void close(team& team) override;
  /// Null if all ranks are on one node.
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  /// The part of a rank of this node.
  [[nodiscard]] std::byte* part(int rank) const noexcept { return memory_->part(index_of(rank)); }
  /// Where byte `offset` of peer's part lies in window(): a rank of the window, and an offset in
  /// that rank's memory.
  struct target {
    int rank;
    MPI_Aint offset;
  };
  [[nodiscard]] target target_of(int peer, std::size_t offset) const noexcept {
    if (!is_shared_window_) return {peer, static_cast<MPI_Aint>(offset)};
    return {0, memory_->displacement(peer) + static_cast<MPI_Aint>(offset)};
  }

 private:
  [[nodiscard]] int index_of(int rank) const noexcept {
    return is_shared_window_ ? rank : nodes_.local_index(rank);
  }

  const node_map& nodes_;
  bool is_shared_window_;
  std::optional<node_memory> memory_;  // until close()
  MPI_Win window_ = MPI_WIN_NULL;
};

class segment final : public longshore::segment {
 public:
  /// Collective over the team.
  segment(team& team, std::size_t bytes);
  ~segment() override;

  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                       std::int64_t* previous) override;
  void quiet() override;

 private:
  // Adds at once, or begins the addition by MPI. Returns whether MPI still has to complete it.
  bool begin_fetch_add(int peer, std::size_t offset, const std::int64_t* amount,
                       std::int64_t* previous);

  team& team_;
  detail::team_watch lifetime_of_team_{team_};
  std::unique_ptr<segment_memory> memory_;
  MPI_Win window_;  // of memory_
  watchdog& watchdog_;
  bool pending_ = false;
  int unwinding_;
  segment(team& team, std::unique_ptr<segment_memory> memory, std::size_t bytes);
};

}  // namespace longshore::mpi
