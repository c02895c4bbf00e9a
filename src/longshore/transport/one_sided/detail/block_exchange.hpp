// The exchange of an alltoall: blocks of any length between all pairs of ranks, in pieces through
// channels. Sender and receiver know the length of a block, so no rank sends lengths, and no rank
// waits for an empty block. Reading blocks from the memory of the senders would need several
// barriers of all ranks, and gets are slow over TCP.
//
// Cost: a message per piece of at most 56 KiB, and a copy at both ends. Memory per rank: 4 pieces
// for each rank and direction (8 between nodes). With many ranks, pieces are shorter. Between hosts
// there are more pieces (stream_ends.hpp).
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
  /// Making and destroying the object are collective. Throws errc::out_of_memory on all ranks.
  explicit block_exchange(longshore::team& ranks);
  /// Like team::alltoallv, with counts in bytes. A rank waits only for ranks with which it
  /// exchanges bytes.
  void exchange(const std::byte* outgoing, std::span<const std::size_t> outgoing_bytes,
                std::byte* incoming, std::span<const std::size_t> incoming_bytes);

 private:
  /// The bytes of a block that are not yet sent or received.
  struct remaining_block {
    std::size_t channel, bytes;
    std::byte* next;
  };
  /// Sends or receives one piece if that is possible now. Returns whether a piece was moved.
  [[nodiscard]] bool send_piece(remaining_block& block);
  [[nodiscard]] bool receive_piece(remaining_block& block);

  longshore::team& team_;
  std::size_t piece_bytes_;
  // Sender i leads to rank (rank() + i + 1) mod size, receiver i comes from rank (rank() - i - 1)
  // mod size.
  std::unique_ptr<channel_set> channels_;
};

}  // namespace longshore::one_sided
