// Segments over MPI: a shared window within the node, one-sided calls between nodes.
#pragma once

#include <longshore/transport/mpi/node_memory.hpp>
#include <longshore/transport/mpi/watchdog.hpp>
#include <longshore/transport/segment.hpp>
#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore::mpi {

class segment final : public longshore::segment {
 public:
  /// Collective over `ranks`.
  segment(const longshore::team& team, const communicator& ranks, std::unique_ptr<node_memory> memory, std::size_t bytes,
          watchdog& dog);
  ~segment() override;

  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void quiet() override;

 private:
  std::unique_ptr<node_memory> memory_;
  MPI_Win window_ = MPI_WIN_NULL;  // over all ranks; null when all of them share memory
  watchdog& dog_;
  bool pending_ = false;
  int unwinding_;
};

}  // namespace longshore::mpi
