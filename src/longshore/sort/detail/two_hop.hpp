// The exchange two-hop: what the ranks of a node send to another node crosses together. Few and
// long messages between nodes, for blocks that are too small to be sent one by one.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/piece_streams.hpp>
#include <longshore/sort/detail/room.hpp>

namespace longshore::detail {

/// First within the node: every rank gives what is for rank (node b, place j) to the rank of its
/// own node at place j (counted from the front again where its node is smaller). Then this relay
/// sends to each of its targets what all ranks of its node have for it. (As the node-aware routes
/// of multi-hop aggregation: J. DeVinney, J. Gilbert, "bale", 2019; T. Steil et al., "YGM", 2019.)
/// A block for a rank of the own node takes the first hop only, to that rank itself.
class two_hop final : public block_exchange {
 public:
  two_hop(team& team, std::size_t item_bytes);

 private:
  std::byte* make_room(std::size_t bytes, std::size_t) override { return room_.grow(bytes); }
  void agree(const block_counts& counts) override;
  void move(const std::byte* outgoing, const arrival& arrived) override;

  [[nodiscard]] int relay_of(int target) const noexcept;
  void send_to_relays(const std::byte* outgoing);
  void send_to_nodes();

  std::vector<int> sources_;  // the ranks of this node, ascending
  // targets on other nodes, by the rank of this node that relays for them, by its place
  std::vector<std::vector<int>> through_;
  std::vector<int> passed_on_;        // those of this rank
  std::vector<std::size_t> relayed_;  // bytes, by source of this node, then by passed_on_
  std::size_t relayed_bytes_ = 0;
  private_room room_, staging_;
  piece_streams to_relays_, to_nodes_;
};

}  // namespace longshore::detail
