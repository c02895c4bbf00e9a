#include <longshore/sort/detail/two_hop.hpp>

#include <cstring>
#include <numeric>

namespace longshore::detail {
namespace {

int relay_place(const node_map& nodes, int target, int ranks_of_relays) {
  return nodes.local_index(target) % ranks_of_relays;
}

std::vector<int> others_of_node(const team& team) {
  std::vector<int> others;
  for (const int rank : team.nodes().my_ranks())
    if (rank != team.rank()) others.push_back(rank);
  return others;
}

// Ranks of other nodes that this rank relays for, by node, beginning behind its own: the nodes of a
// round aim at different ones.
std::vector<int> relayed_by(const team& team) {
  const auto& nodes = team.nodes();
  std::vector<int> targets;
  for (int step = 1; step < nodes.node_count(); ++step)
    for (int rank = 0; rank < team.size(); ++rank)
      if (nodes.node_of(rank) == (nodes.my_node() + step) % nodes.node_count() &&
          relay_place(nodes, rank, nodes.my_rank_count()) == nodes.local_index(team.rank()))
        targets.push_back(rank);
  return targets;
}

// Ranks of other nodes that relay for this rank.
std::vector<int> relays_to(const team& team) {
  const auto& nodes = team.nodes();
  std::vector<int> ranks_of(static_cast<std::size_t>(nodes.node_count()));
  for (int rank = 0; rank < team.size(); ++rank) ++ranks_of[nodes.node_of(rank)];
  std::vector<int> relays;
  for (int rank = 0; rank < team.size(); ++rank)
    if (!nodes.is_local(rank) &&
        relay_place(nodes, team.rank(), ranks_of[nodes.node_of(rank)]) == nodes.local_index(rank))
      relays.push_back(rank);
  return relays;
}

}  // namespace

two_hop::two_hop(team& team, std::size_t item_bytes)
    : block_exchange(team, item_bytes),
      sources_(team.nodes().my_ranks().begin(), team.nodes().my_ranks().end()),
      through_(sources_.size()),
      passed_on_(relayed_by(team)),
      relayed_(sources_.size() * passed_on_.size()),
      to_relays_(team, others_of_node(team), others_of_node(team), item_bytes),
      to_nodes_(team, passed_on_, relays_to(team), item_bytes) {
  for (int rank = 0; rank < team.size(); ++rank)
    if (!team.nodes().is_local(rank)) through_[relay_of(rank)].push_back(rank);
  // In the order in which the relay passes them on.
  const auto& nodes = team.nodes();
  const auto steps_to = [&](int rank) {
    return (nodes.node_of(rank) - nodes.my_node() + nodes.node_count()) % nodes.node_count();
  };
  for (auto& targets : through_)
    std::stable_sort(targets.begin(), targets.end(),
                     [&](int a, int b) { return steps_to(a) < steps_to(b); });
}

int two_hop::relay_of(int target) const noexcept {
  return relay_place(team_.nodes(), target, team_.nodes().my_rank_count());
}

// Relays learn how much each rank of their node has for each of their targets.
void two_hop::agree(const block_counts&) {
  const auto& nodes = team_.nodes();
  const auto mine = static_cast<std::size_t>(nodes.local_index(team_.rank()));
  std::vector<std::vector<std::size_t>> told(sources_.size());
  for (std::size_t place = 0; place < sources_.size(); ++place)
    for (const int target : through_[place]) told[place].push_back(bytes_to(target));
  for (std::size_t k = 0; k < to_relays_.to().size(); ++k) {
    const auto& of_relay = told[static_cast<std::size_t>(nodes.local_index(to_relays_.to()[k]))];
    to_relays_.outgoing(k).push_back({reinterpret_cast<const std::byte*>(of_relay.data()),
                                      of_relay.size() * sizeof(std::size_t)});
  }
  const auto row_of = [&](std::size_t place) {
    return relayed_.data() + place * passed_on_.size();
  };
  for (std::size_t k = 0; k < to_relays_.from().size(); ++k) {
    std::size_t* const row =
        row_of(static_cast<std::size_t>(nodes.local_index(to_relays_.from()[k])));
    to_relays_.incoming(k).push_back(
        {reinterpret_cast<std::byte*>(row), passed_on_.size() * sizeof(std::size_t)});
  }
  std::copy(told[mine].begin(), told[mine].end(), row_of(mine));
  to_relays_.run(
      piece_streams::turns::all_targets,
      [this](int target, std::size_t bytes) { count_message(target, bytes); }, nullptr);
  relayed_bytes_ = std::accumulate(relayed_.begin(), relayed_.end(), std::size_t{0});
  staging_.grow(relayed_bytes_);
}

void two_hop::move(const std::byte* outgoing, const arrival&) {
  copy_own_block(outgoing, nullptr);
  send_to_relays(outgoing);
  send_to_nodes();
}

// In the staging memory lies, for each target in turn, what the ranks of this node have for it, in
// rank order.
void two_hop::send_to_relays(const std::byte* outgoing) {
  const auto& nodes = team_.nodes();
  const auto place_of = [&](int rank) { return static_cast<std::size_t>(nodes.local_index(rank)); };
  std::vector<std::vector<piece_streams::incoming_piece>> staged(sources_.size());
  std::byte* next = staging_.data();
  for (std::size_t t = 0; t < passed_on_.size(); ++t)
    for (std::size_t place = 0; place < sources_.size(); ++place) {
      const std::size_t bytes = relayed_[place * passed_on_.size() + t];
      staged[place].push_back({next, bytes});
      next += bytes;
    }
  for (std::size_t k = 0; k < to_relays_.to().size(); ++k) {
    const int relay = to_relays_.to()[k];
    auto& pieces = to_relays_.outgoing(k);
    pieces.push_back({outgoing + out_[relay], bytes_to(relay)});
    for (const int target : through_[place_of(relay)])
      pieces.push_back({outgoing + out_[target], bytes_to(target)});
  }
  for (std::size_t k = 0; k < to_relays_.from().size(); ++k) {
    const int source = to_relays_.from()[k];
    auto& pieces = to_relays_.incoming(k);
    pieces.push_back({incoming_ + in_[source], bytes_from(source)});
    for (const auto& piece : staged[place_of(source)]) pieces.push_back(piece);
  }
  const std::size_t mine = place_of(team_.rank());
  for (std::size_t t = 0; t < passed_on_.size(); ++t)
    if (staged[mine][t].bytes > 0)
      std::memcpy(staged[mine][t].data, outgoing + out_[passed_on_[t]], staged[mine][t].bytes);
  to_relays_.run(
      piece_streams::turns::all_targets,
      [this](int target, std::size_t bytes) { count_message(target, bytes); }, nullptr);
}

void two_hop::send_to_nodes() {
  const std::byte* next = staging_.data();
  for (std::size_t t = 0; t < passed_on_.size(); ++t) {
    std::size_t bytes = 0;
    for (std::size_t place = 0; place < sources_.size(); ++place)
      bytes += relayed_[place * passed_on_.size() + t];
    to_nodes_.outgoing(t).push_back({next, bytes});
    next += bytes;
  }
  const auto& nodes = team_.nodes();
  for (std::size_t k = 0; k < to_nodes_.from().size(); ++k)
    for (int source = 0; source < team_.size(); ++source)
      if (nodes.node_of(source) == nodes.node_of(to_nodes_.from()[k]))
        to_nodes_.incoming(k).push_back({incoming_ + in_[source], bytes_from(source)});
  to_nodes_.run(
      piece_streams::turns::all_targets,
      [this](int target, std::size_t bytes) { count_message(target, bytes); }, nullptr);
}

}  // namespace longshore::detail
