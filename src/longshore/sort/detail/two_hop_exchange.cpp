// The exchange two-hop: finds the relays, tells them the sizes of blocks, sends blocks to the
// relays, and from there to the other nodes.
#include <longshore/sort/detail/two_hop_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::detail {
namespace {

// The place of the relay for a target, in a node of `relays` ranks.
int relay_place(const node_map& nodes, int target, int relays) {
  return nodes.local_index(target) % relays;
}

std::vector<int> others_of_node(const team& team) {
  std::vector<int> others;
  for (const int rank : team.nodes().my_ranks())
    if (rank != team.rank()) others.push_back(rank);
  return others;
}

// The ranks of other nodes for which this rank is the relay. The list begins with ranks of the next
// node, so that different nodes send to different nodes at the same time.
std::vector<int> targets_relayed_by(const team& team) {
  const auto& nodes = team.nodes();
  std::vector<int> targets;
  for (int step = 1; step < nodes.node_count(); ++step)
    for (int rank = 0; rank < team.size(); ++rank)
      if (nodes.node_of(rank) == (nodes.my_node() + step) % nodes.node_count() &&
          relay_place(nodes, rank, nodes.my_rank_count()) == nodes.local_index(team.rank()))
        targets.push_back(rank);
  return targets;
}

// The ranks of other nodes that are relays for this rank.
std::vector<int> relays_that_send_to(const team& team) {
  const auto& nodes = team.nodes();
  std::vector<int> node_sizes(static_cast<std::size_t>(nodes.node_count()));
  for (int rank = 0; rank < team.size(); ++rank) ++node_sizes[nodes.node_of(rank)];
  std::vector<int> relays;
  for (int rank = 0; rank < team.size(); ++rank)
    if (!nodes.is_local(rank) &&
        relay_place(nodes, team.rank(), node_sizes[nodes.node_of(rank)]) == nodes.local_index(rank))
      relays.push_back(rank);
  return relays;
}

// No relay of any node has more targets: a relay in the smallest node has the most.
std::size_t most_targets_of_a_relay(const node_map& nodes) {
  std::vector<int> node_sizes(static_cast<std::size_t>(nodes.node_count()));
  for (int rank = 0; rank < nodes.rank_count(); ++rank) ++node_sizes[nodes.node_of(rank)];
  const int smallest = *std::min_element(node_sizes.begin(), node_sizes.end());
  std::size_t targets = 0;
  for (const int size : node_sizes)
    targets += static_cast<std::size_t>((size + smallest - 1) / smallest);
  return targets;
}

}  // namespace

two_hop_exchange::two_hop_exchange(team& team, std::size_t item_bytes)
    : block_exchange(team, item_bytes),
      sources_(team.nodes().my_ranks().begin(), team.nodes().my_ranks().end()),
      targets_of_relay_(sources_.size()),
      relay_targets_(targets_relayed_by(team)),
      relayed_bytes_(sources_.size() * relay_targets_.size()),
      to_relays_(team, others_of_node(team), others_of_node(team), item_bytes),
      to_nodes_(team, relay_targets_, relays_that_send_to(team), item_bytes) {
  const auto& nodes = team.nodes();
  for (int rank = 0; rank < team.size(); ++rank)
    if (!nodes.is_local(rank))
      targets_of_relay_[relay_place(nodes, rank, nodes.my_rank_count())].push_back(rank);
  // Sorts targets_of_relay_ into the order of relay_targets_ on the relay.
  const auto steps_to = [&](int rank) {
    return (nodes.node_of(rank) - nodes.my_node() + nodes.node_count()) % nodes.node_count();
  };
  for (auto& targets : targets_of_relay_)
    std::stable_sort(targets.begin(), targets.end(),
                     [&](int a, int b) { return steps_to(a) < steps_to(b); });
}

// Sends each relay the sizes of this rank's blocks for the relay's targets.
void two_hop_exchange::prepare_transfer(const block_counts& counts) {
  const std::size_t block_bytes = std::max(counts.max_block * item_bytes_, sizeof(std::size_t));
  to_relays_.make_room((most_targets_of_a_relay(team_.nodes()) + 1) * block_bytes);
  to_nodes_.make_room(static_cast<std::size_t>(team_.nodes().largest_node()) * block_bytes);
  std::vector<std::vector<std::size_t>> sizes(sources_.size());  // indexed by the relay's place
  for (std::size_t place = 0; place < sources_.size(); ++place)
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
  run(to_relays_);
  staging_.grow(std::accumulate(relayed_bytes_.begin(), relayed_bytes_.end(), std::size_t{0}));
}

void two_hop_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  copy_own_block(outgoing, nullptr);
  send_to_relays(outgoing);
  send_to_nodes();
}

// The staging memory holds, for each target in turn, the blocks of the ranks of this node in rank
// order.
void two_hop_exchange::send_to_relays(const std::byte* outgoing) {
  std::vector<std::vector<message_streams::incoming_piece>> staged(sources_.size());
  std::byte* next = staging_.data();
  for (std::size_t t = 0; t < relay_targets_.size(); ++t)
    for (std::size_t place = 0; place < sources_.size(); ++place) {
      const std::size_t bytes = relayed_from(place)[t];
      staged[place].push_back({next, bytes});
      next += bytes;
    }
  for (std::size_t k = 0; k < to_relays_.to().size(); ++k) {
    const int relay = to_relays_.to()[k];
    auto& pieces = to_relays_.outgoing(k);
    pieces.push_back({outgoing + outgoing_starts_[relay], bytes_to(relay)});
    for (const int target : targets_of_relay_[place_of(relay)])
      pieces.push_back({outgoing + outgoing_starts_[target], bytes_to(target)});
  }
  for (std::size_t k = 0; k < to_relays_.from().size(); ++k) {
    const int source = to_relays_.from()[k];
    auto& pieces = to_relays_.incoming(k);
    pieces.push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
    for (const auto& piece : staged[place_of(source)]) pieces.push_back(piece);
  }
  const auto& own_pieces = staged[place_of(team_.rank())];
  for (std::size_t t = 0; t < relay_targets_.size(); ++t)
    if (own_pieces[t].bytes > 0)
      std::memcpy(own_pieces[t].data, outgoing + outgoing_starts_[relay_targets_[t]],
                  own_pieces[t].bytes);
  run(to_relays_);
}

void two_hop_exchange::send_to_nodes() {
  const std::byte* next = staging_.data();
  for (std::size_t t = 0; t < relay_targets_.size(); ++t) {
    std::size_t bytes = 0;
    for (std::size_t place = 0; place < sources_.size(); ++place) bytes += relayed_from(place)[t];
    to_nodes_.outgoing(t).push_back({next, bytes});
    next += bytes;
  }
  const auto& nodes = team_.nodes();
  for (std::size_t k = 0; k < to_nodes_.from().size(); ++k)
    for (int source = 0; source < team_.size(); ++source)
      if (nodes.node_of(source) == nodes.node_of(to_nodes_.from()[k]))
        to_nodes_.incoming(k).push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
  run(to_nodes_);
}

void two_hop_exchange::run(message_streams& streams) {
  streams.run(
      message_streams::send_order::interleaved,
      [this](int target, std::size_t bytes) { count_message(target, bytes); }, nullptr);
}

}  // namespace longshore::detail
