// Sends handshake messages of any length in packets through small channels between neighbours on a
// node.
#include <longshore/halo/detail/backends/neighbour_handshake.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace longshore::detail {
namespace {

// Longer messages travel in several packets.
constexpr std::size_t packet_bytes = 2048;
constexpr int packet_slots = 2;

constexpr int round_trips = 20;
// On AMD EPYC a round trip takes 100 to 120 ns between caches that are near each other, and 370 to
// 400 ns between caches that are far from each other.
constexpr double far_round_trip_seconds = 220e-9;

std::vector<channel_end> ends(std::span<const int> peers) {
  std::vector<channel_end> channel_ends;
  for (const int peer : peers) channel_ends.push_back({peer, packet_bytes});
  return channel_ends;
}

}  // namespace

neighbour_handshake::neighbour_handshake(team& ranks, std::vector<int> peers)
    : ranks_(ranks), peers_(std::move(peers)), mappings_(ranks.transport_name() == "threads") {
  channels_ = ranks.open_channels(ends(peers_), ends(peers_), packet_slots);
}

// A message travels in full packets, followed by a packet that is not full and may be empty. The
// receiver recognises the end of the message by the packet that is not full.
std::vector<std::vector<std::byte>> neighbour_handshake::exchange(
    const std::vector<std::vector<std::byte>>& messages) {
  std::vector<std::vector<std::byte>> received(peers_.size());
  std::vector<std::size_t> sent(peers_.size(), 0);
  std::vector<bool> is_sent(peers_.size(), false), is_received(peers_.size(), false);
  std::size_t unfinished = 2 * peers_.size();
  const auto send_packet = [&](std::size_t i) {
    std::byte* const slot = channels_->sender(i).reserve();
    if (slot == nullptr) return false;
    const std::size_t bytes = std::min(packet_bytes, messages[i].size() - sent[i]);
    if (bytes > 0) std::memcpy(slot, messages[i].data() + sent[i], bytes);
    channels_->sender(i).commit(bytes);
    sent[i] += bytes;
    is_sent[i] = bytes < packet_bytes;
    unfinished -= is_sent[i] ? 1 : 0;
    return true;
  };
  const auto receive_packet = [&](std::size_t i) {
    const auto packet = channels_->receiver(i).front();
    if (!packet) return false;
    received[i].insert(received[i].end(), packet->begin(), packet->end());
    is_received[i] = packet->size() < packet_bytes;
    channels_->receiver(i).release();
    unfinished -= is_received[i] ? 1 : 0;
    return true;
  };
  const auto step = [&] {
    bool moved = false;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      while (!is_sent[i] && send_packet(i)) moved = true;
      while (!is_received[i] && receive_packet(i)) moved = true;
    }
    return moved;
  };
  while (unfinished > 0) {
    step();
    if (unfinished == 0) break;
    for (waiter wait(ranks_, "a neighbour to make the same plan"); !step(); wait.pause()) {
    }
  }
  return received;
}

// The shortest of several round trips of an empty message. The peer calls this function, too. All
// ranks take their peers in ascending order, so no ranks wait for each other in a circle.
double neighbour_handshake::round_trip_seconds(std::size_t peer) {
  auto& sender = channels_->sender(peer);
  auto& receiver = channels_->receiver(peer);
  constexpr const char* operation = "a neighbour to measure the time of a message";
  const auto send = [&] {
    for (waiter wait(ranks_, operation, peers_[peer]); sender.reserve() == nullptr; wait.pause()) {
    }
    sender.commit(0);
  };
  const auto receive = [&] {
    for (waiter wait(ranks_, operation, peers_[peer]); !receiver.front(); wait.pause()) {
    }
    receiver.release();
  };
  double shortest = std::numeric_limits<double>::infinity();
  const bool sends_first = ranks_.rank() < peers_[peer];
  for (int trip = 0; trip < round_trips; ++trip) {
    const double began = ranks_.now();
    if (sends_first) send();
    receive();
    if (!sends_first) send();
    if (trip > 0) shortest = std::min(shortest, ranks_.now() - began);
  }
  return shortest;
}

const std::vector<int>& neighbour_handshake::far_peers() {
  if (far_peers_) return *far_peers_;
  far_peers_.emplace();
  // A rank may be the only one whose cores are crowded. So the two ends agree.
  const std::vector<std::byte> mine(1, static_cast<std::byte>(ranks_.waiting().spin));
  const auto received = exchange(std::vector(peers_.size(), mine));
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (mine[0] == std::byte{1} && received[i] == mine &&
        round_trip_seconds(i) > far_round_trip_seconds)
      far_peers_->push_back(peers_[i]);
  return *far_peers_;
}

const std::shared_ptr<neighbour_handshake>& handshake_of(const rank_grid& grid) {
  if (grid.handshake_) return grid.handshake_;
  team& ranks = grid.ranks();
  std::set<int> peers;
  for (const auto& direction : all_directions(grid.dimensions())) {
    const int peer = grid.neighbour(direction);
    if (peer >= 0 && peer != ranks.rank() && ranks.nodes().is_local(peer)) peers.insert(peer);
  }
  grid.handshake_ =
      std::make_shared<neighbour_handshake>(ranks, std::vector<int>(peers.begin(), peers.end()));
  return grid.handshake_;
}

}  // namespace longshore::detail
