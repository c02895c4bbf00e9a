// The exchange rma: one-sided MPI. A fetch-and-op at the target says where a block goes, MPI_Put
// brings it, one flush completes all. (ISx was to have this version and never got it.)
#pragma once

#include <longshore/sort/block_exchange.hpp>

#include <memory>

namespace longshore::mpi {

class window;

/// Two windows: one over the memory for what comes, one for the counters.
class rma_exchange final : public block_exchange {
 public:
  /// Collective. REQUIRES: a team of the mpi transport.
  rma_exchange(longshore::team& team, std::size_t item_bytes, std::vector<int> targets);
  ~rma_exchange() override;

 private:
  std::byte* make_room(std::size_t bytes, std::size_t most_bytes) override;
  void agree(const block_counts& counts) override;
  void move(const std::byte* outgoing, const arrival& arrived) override;
  void all_moved() override;

  std::vector<int> targets_;
  std::unique_ptr<window> room_,
      // `claimed_`: two counters of bytes that have a place on this rank; that of the last run is
      // set back while nobody looks at it
      claimed_;
  unsigned runs_ = 0;
};

}  // namespace longshore::mpi
