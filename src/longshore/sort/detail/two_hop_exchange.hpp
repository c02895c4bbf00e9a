// The exchange two-hop: ranks of a node join their blocks for another node. Few and long messages
// travel between nodes, also if blocks are too small to be sent one by one.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/detail/message_streams.hpp>

namespace longshore::detail {

/// First hop, within the node: every rank sends its block for the rank at place j of another node
/// to the rank at place j of its own node, the relay. (If its own node has L ranks, and j >= L, the
/// relay is at place j mod L.) Second hop: each relay sends each of its targets the blocks of all
/// ranks of its node. A block for a rank of the same node goes to that rank in the first hop. Both
/// hops are under way at the same time.
/// Node-aware routes of multi-hop aggregation do the same (J. DeVinney, J. Gilbert, "bale", 2019;
/// T. Steil et al., "YGM", 2019).
class two_hop_exchange final : public block_exchange {
 public:
  two_hop_exchange(team& team, std::size_t item_bytes);

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t) override { return buffer_.grow(bytes); }
  void prepare_transfer(const block_counts& counts) override;
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;

  void list_first_hop(const std::byte* outgoing);
  void list_second_hop(const std::byte* outgoing);
  void add_relayed(std::size_t place);
  [[nodiscard]] bool has_arrived(std::size_t place);
  bool advance();
  // The place of a rank within its node.
  [[nodiscard]] std::size_t place_of(int rank) const {
    return static_cast<std::size_t>(team_.nodes().local_index(rank));
  }
  [[nodiscard]] std::size_t place_after_mine(std::size_t steps) const {
    return (place_of(team_.rank()) + steps) % sources_.size();
  }
  // The bytes that the rank at `place` of this node has for each of relay_targets_.
  [[nodiscard]] std::size_t* relayed_from(std::size_t place) noexcept {
    return relayed_bytes_.data() + place * relay_targets_.size();
  }
  [[nodiscard]] std::size_t relayed_bytes_from(std::size_t place);

  std::vector<int> sources_;                        // the ranks of this node, ascending
  std::vector<std::vector<int>> targets_of_relay_;  // ranks of other nodes, by the relay's place
  std::vector<int> relay_targets_;                  // the targets for which this rank is the relay
  std::vector<std::size_t> relayed_bytes_;          // indexed by source, then by relay target
  std::vector<std::byte*> staged_;                  // their blocks in staging_, indexed by place
  growable_buffer buffer_, staging_;
  message_streams to_relays_, to_nodes_;
};

}  // namespace longshore::detail
