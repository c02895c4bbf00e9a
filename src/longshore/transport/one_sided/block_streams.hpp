// Blocks of any length between all pairs of ranks, in pieces through channels. Both ends know how
// long a block is: nobody is asked, and nobody waits for a rank from which nothing comes. Looking
// into each other's memory instead would take several meetings of all, and over TCP a get is slow.
//
// Cost: a message per piece of at most 56 KiB, and a copy at each end. Memory per rank: 4 pieces
// for each rank and way (twice that between nodes), which get shorter where the ranks are many.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::one_sided {

class block_streams {
 public:
  /// Collective, and so is destroying it. Throws errc::out_of_memory on all ranks.
  explicit block_streams(longshore::team& ranks);
  /// Collective, among those that have something for each other. As team::alltoallv, in bytes.
  void exchange(const std::byte* outgoing, std::span<const std::size_t> outgoing_bytes,
                std::byte* incoming, std::span<const std::size_t> incoming_bytes);

 private:
  struct block {
    std::size_t channel, left_bytes;
    std::byte* at;
  };
  [[nodiscard]] bool send(block& one);
  [[nodiscard]] bool receive(block& one);

  longshore::team& team_;
  std::size_t piece_bytes_;
  // the i-th is with the i-th rank after this one, and before it
  std::unique_ptr<channel_set> channels_;
};

}  // namespace longshore::one_sided
