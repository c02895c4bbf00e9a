// The exchange of an alltoall: blocks of any length between all pairs of ranks, in pieces through
// channels. Both ends know the length of a block, so no rank needs to send lengths, and no rank
// waits for an empty block. Reading blocks from the memory of their senders would take several
// barriers of all ranks, and gets are slow over TCP.
//
// Cost: a message per piece of at most 56 KiB, and a copy at each end. Memory per rank: 4 pieces
// for each rank and direction (twice that between nodes). Pieces are shorter if there are many
// ranks.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace longshore::one_sided {

class block_exchange {
 public:
  /// Collective, and so is destroying it. Throws errc::out_of_memory on all ranks.
  explicit block_exchange(longshore::team& ranks);
  /// As team::alltoallv, with counts in bytes. Only ranks that send each other bytes wait for each
  /// other.
  void exchange(const std::byte* outgoing, std::span<const std::size_t> outgoing_bytes,
                std::byte* incoming, std::span<const std::size_t> incoming_bytes);

 private:
  /// The rest of a block.
  struct block {
    std::size_t channel, left_bytes;
    std::byte* next;
  };
  /// These move one piece if that is possible now, and return whether they did.
  [[nodiscard]] bool send(block& rest);
  [[nodiscard]] bool receive(block& rest);

  longshore::team& team_;
  std::size_t piece_bytes_;
  // sender i leads to the rank i + 1 after this one, receiver i comes from the rank i + 1 before it
  std::unique_ptr<channel_set> channels_;
};

}  // namespace longshore::one_sided
