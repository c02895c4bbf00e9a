// The exchange rma: one-sided MPI. A rank reserves memory of the target by MPI_Fetch_and_op, stores
// its block by MPI_Put, and completes all blocks by one flush. (ISx planned, but did not have, such
// an exchange.)
#pragma once

#include <longshore/sort/block_exchange.hpp>

#include <memory>

namespace longshore::mpi {

class window;

class rma_exchange final : public block_exchange {
 public:
  /// Collective. REQUIRES: a team of the mpi transport.
  rma_exchange(longshore::team& team, std::size_t item_bytes, std::vector<int> targets);
  ~rma_exchange() override;

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t max_bytes) override;
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;
  void after_barrier() override;

  std::vector<int> targets_;
  std::unique_ptr<window> buffer_;
  // Two counters of the bytes that are reserved on this rank. Runs use the counters in turn: the
  // counter of the last run is reset while the current run uses the other counter.
  std::unique_ptr<window> reserved_;
  unsigned runs_ = 0;
};

}  // namespace longshore::mpi
