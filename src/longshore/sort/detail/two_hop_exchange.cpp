// The exchange two-hop: ranks of a node join their blocks for another node. So few and long
// messages travel between nodes, even if the blocks of single ranks are small.
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/detail/message_streams.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <numeric>

namespace longshore::detail {
namespace {

// The place of the relay for a target, in a node of `relays` ranks.
int relay_place(const node_map& nodes, int target, int relays) {
  return nodes.local_index(target) % relays;
}

int size_of_node(const node_map& nodes, int node) {
  return static_cast<int>(nodes.ranks_of(node).size());
}

std::vector<int> others_of_node(const team& team) {
  std::vector<int> others;
  for (const int rank : team.nodes().my_ranks())
    if (rank != team.rank()) others.push_back(rank);
  return others;
}

// The ranks of other nodes by the place of their relay on this node. Each list begins with ranks of
// the next node, so that different nodes send to different nodes at the same time.
std::vector<std::vector<int>> targets_by_relay(const node_map& nodes) {
  std::vector<std::vector<int>> targets(nodes.my_ranks().size());
  for (int step = 1; step < nodes.node_count(); ++step)
    for (const int rank : nodes.ranks_of((nodes.my_node() + step) % nodes.node_count()))
      targets[relay_place(nodes, rank, nodes.ranks_on_my_node())].push_back(rank);
  return targets;
}

// The ranks of other nodes that are relays for this rank.
std::vector<int> relays_that_send_to(const team& team) {
  const auto& nodes = team.nodes();
  std::vector<int> relays;
  for (int rank = 0; rank < team.size(); ++rank)
    if (!nodes.is_local(rank) &&
        relay_place(nodes, team.rank(), size_of_node(nodes, nodes.node_of(rank))) ==
            nodes.local_index(rank))
      relays.push_back(rank);
  return relays;
}

// An upper limit of the targets of any relay. A relay in the smallest node has the most targets.
std::size_t most_targets_of_a_relay(const node_map& nodes) {
  int smallest = nodes.largest_node(), targets = 0;
  for (int node = 0; node < nodes.node_count(); ++node)
    smallest = std::min(smallest, size_of_node(nodes, node));
  for (int node = 0; node < nodes.node_count(); ++node)
    targets += (size_of_node(nodes, node) + smallest - 1) / smallest;
  return static_cast<std::size_t>(targets);
}

// First hop, within the node: every rank sends its block for the rank at place j of another node
// to the rank at place j of its own node, the relay. (If its own node has L ranks, and j >= L, the
// relay is at place j mod L.) Second hop: each relay sends each of its targets the blocks of all
// ranks of its node. A block for a rank of the same node goes to that rank in the first hop. Both
// hops are under way at the same time.
// Node-aware routes of multi-hop aggregation do the same (J. DeVinney, J. Gilbert, "bale", 2019;
// T. Steil et al., "YGM", 2019).
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
    return (place_of(team_.rank()) + steps) % node_ranks_;
  }
  // The bytes that the rank at `place` of this node has for each of relay_targets_.
  [[nodiscard]] std::size_t* relayed_from(std::size_t place) noexcept {
    return relayed_bytes_.data() + place * relay_targets_.size();
  }
  [[nodiscard]] std::size_t relayed_bytes_from(std::size_t place);

  std::size_t node_ranks_;                          // the number of ranks of this node
  std::vector<std::vector<int>> targets_of_relay_;  // ranks of other nodes, by the relay's place
  std::vector<int> relay_targets_;                  // the targets for which this rank is the relay
  std::vector<std::size_t> relayed_bytes_;          // indexed by source, then by relay target
  std::vector<std::byte*> staged_;                  // source blocks in staging_, indexed by place
  growable_buffer buffer_, staging_;
  message_streams to_relays_, to_nodes_;
};

two_hop_exchange::two_hop_exchange(team& team, std::size_t item_bytes)
    : block_exchange(team, item_bytes),
      node_ranks_(team.nodes().my_ranks().size()),
      targets_of_relay_(targets_by_relay(team.nodes())),
      relay_targets_(targets_of_relay_[place_of(team.rank())]),
      relayed_bytes_(node_ranks_ * relay_targets_.size()),
      staged_(node_ranks_),
      to_relays_(team, others_of_node(team), others_of_node(team), item_bytes),
      to_nodes_(team, relay_targets_, relays_that_send_to(team), item_bytes) {}

// Sends each relay the sizes of this rank's blocks for the relay's targets.
void two_hop_exchange::prepare_transfer(const block_counts& counts) {
  const std::size_t block_bytes = std::max(counts.max_block * item_bytes_, sizeof(std::size_t));
  to_relays_.make_room((most_targets_of_a_relay(team_.nodes()) + 1) * block_bytes);
  to_nodes_.make_room(static_cast<std::size_t>(team_.nodes().largest_node()) * block_bytes);
  std::vector<std::vector<std::size_t>> sizes(node_ranks_);  // indexed by the relay's place
  for (std::size_t place = 0; place < node_ranks_; ++place)
    for (const int target : targets_of_relay_[place]) sizes[place].push_back(bytes_to(target));
  for (std::size_t k = 0; k < to_relays_.to().size(); ++k) {
    const auto& for_relay = sizes[place_of(to_relays_.to()[k])];
    to_relays_.outgoing(k).push_back({reinterpret_cast<const std::byte*>(for_relay.data()),
                                      for_relay.size() * sizeof(std::size_t)});
  }
  for (std::size_t k = 0; k < to_relays_.from().size(); ++k)
    to_relays_.incoming(k).push_back(
        {reinterpret_cast<std::byte*>(relayed_from(place_of(to_relays_.from()[k]))),
         relay_targets_.size() * sizeof(std::size_t)});
  const std::size_t my_place = place_of(team_.rank());
  std::copy(sizes[my_place].begin(), sizes[my_place].end(), relayed_from(my_place));
  to_relays_.run(message_streams::send_order::interleaved,
                 [this](int target, std::size_t bytes) { count_message(target, bytes); }, {});
  std::size_t staged_bytes = 0;
  for (const int source : to_relays_.from()) staged_bytes += relayed_bytes_from(place_of(source));
  staging_.grow(staged_bytes);
}

// The blocks of this rank need no first hop. They leave for other nodes while the first hop is
// under way. The blocks of the other ranks of the node follow when they have arrived, in the order
// of places after this rank's.
void two_hop_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  list_first_hop(outgoing);
  list_second_hop(outgoing);
  to_relays_.begin();
  to_nodes_.begin(true);
  advance();
  copy_own_block(outgoing, {});
  std::size_t relayed = 1;  // places whose blocks are listed for the second hop
  while (!to_relays_.is_done() || !to_nodes_.is_done())
    for (waiter wait(team_, "a free slot or a message");; wait.pause()) {
      bool moved = advance();
      for (; relayed < node_ranks_ && has_arrived(place_after_mine(relayed)); ++relayed)
        add_relayed(place_after_mine(relayed));
      if (relayed == node_ranks_ && to_nodes_.awaits_pieces()) {
        to_nodes_.add_last_pieces();
        moved = true;
      }
      if (moved) break;
    }
  to_relays_.clear();
  to_nodes_.clear();
}

// The staging memory has one section for each other rank of this node. A section holds the blocks
// of that rank in the order of relay_targets_. Blocks for other nodes leave first, because they
// have the longer way.
void two_hop_exchange::list_first_hop(const std::byte* outgoing) {
  for (std::size_t k = 0; k < to_relays_.to().size(); ++k) {
    const int relay = to_relays_.to()[k];
    auto& pieces = to_relays_.outgoing(k);
    for (const int target : targets_of_relay_[place_of(relay)])
      pieces.push_back({outgoing + outgoing_starts_[target], bytes_to(target)});
    pieces.push_back({outgoing + outgoing_starts_[relay], bytes_to(relay)});
  }
  std::byte* next = staging_.data();
  for (std::size_t k = 0; k < to_relays_.from().size(); ++k) {
    const int source = to_relays_.from()[k];
    const std::size_t place = place_of(source);
    staged_[place] = next;
    const std::size_t bytes = relayed_bytes_from(place);
    to_relays_.incoming(k).push_back({next, bytes});
    to_relays_.incoming(k).push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
    next += bytes;
  }
}

void two_hop_exchange::list_second_hop(const std::byte* outgoing) {
  for (std::size_t t = 0; t < relay_targets_.size(); ++t)
    to_nodes_.outgoing(t).push_back(
        {outgoing + outgoing_starts_[relay_targets_[t]], bytes_to(relay_targets_[t])});
  const auto& nodes = team_.nodes();
  for (std::size_t k = 0; k < to_nodes_.from().size(); ++k) {
    const int relay = to_nodes_.from()[k];
    const auto ranks = nodes.ranks_of(nodes.node_of(relay));
    std::vector<int> of_node(ranks.begin(), ranks.end());
    std::rotate(of_node.begin(), std::find(of_node.begin(), of_node.end(), relay), of_node.end());
    for (const int source : of_node)
      to_nodes_.incoming(k).push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
  }
}

std::size_t two_hop_exchange::relayed_bytes_from(std::size_t place) {
  const std::size_t* const bytes = relayed_from(place);
  return std::accumulate(bytes, bytes + relay_targets_.size(), std::size_t{0});
}

void two_hop_exchange::add_relayed(std::size_t place) {
  const std::byte* next = staged_[place];
  for (std::size_t t = 0; t < relay_targets_.size(); ++t) {
    to_nodes_.outgoing(t).push_back({next, relayed_from(place)[t]});
    next += relayed_from(place)[t];
  }
}

// Whether all blocks of the other rank at `place` have arrived, including its block for this rank.
bool two_hop_exchange::has_arrived(std::size_t place) {
  return to_relays_.has_received(place < place_of(team_.rank()) ? place : place - 1);
}

bool two_hop_exchange::advance() {
  const auto sent = [this](int target, std::size_t bytes) { count_message(target, bytes); };
  bool moved = false;
  for (auto* const streams : {&to_nodes_, &to_relays_})
    moved |= streams->advance(message_streams::send_order::interleaved, sent, {});
  return moved;
}

}  // namespace

made_exchange make_two_hop_exchange(team& team, std::size_t item_bytes) {
  return std::make_unique<two_hop_exchange>(team, item_bytes);
}

}  // namespace longshore::detail
