// The ranks of the node whose memory this rank reads, or that read memory of this rank.
#pragma once

#include <longshore/ghost/detail/ghost_program.hpp>
#include <longshore/ghost/detail/messenger.hpp>
#include <longshore/ghost/detail/plan_memory.hpp>
#include <longshore/transport/direct_signals.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

struct direct_peer {
  int rank = -1;
  rank_memories memories;  ///< of the peer, mapped into this process
  /// Bit m: this rank can read memory m of the peer; the peer can read memory m of this rank. 0 if
  /// they cannot signal each other.
  std::uint32_t readable = 0, read_by_peer = 0;
  direct_signals* signals_from_peer = nullptr;  ///< one per round, in the memory of this rank
  direct_signals* signals_to_peer = nullptr;    ///< one per round, in the memory of the peer

  [[nodiscard]] bool can_read(const incoming_message& message) const;
  [[nodiscard]] bool is_read(const outgoing_message& message) const;
};

/// A plan's direct peers. Cost per peer: a message of 64 bytes per field and memory, and
/// one of 4 bytes between processes; 128 bytes of signals per round.
class direct_peers {
 public:
  /// Collective over the ranks of a node. `elements` has the number of elements of each memory.
  /// `neighbours` reaches all ranks of the node with which this rank exchanges messages.
  direct_peers(team& ranks, std::shared_ptr<messenger> neighbours,
               std::span<const ghost_memory> fields, const rank_memories& memories,
               std::span<const std::size_t> elements, std::size_t rounds);

  /// Null if the rank is on another node, or shares no memory with this rank.
  [[nodiscard]] const direct_peer* find(int rank) const;

 private:
  void add_peer(team& ranks, int rank, std::span<const std::byte> description);

  std::shared_ptr<messenger> messenger_;
  shareable_memory signals_;
  std::vector<direct_peer> peers_;  // sorted by rank
  std::vector<std::shared_ptr<const void>> mappings_;
};

}  // namespace longshore::detail
