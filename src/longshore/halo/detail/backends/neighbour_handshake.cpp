// Sends handshake messages of any length in packets through small channels between neighbours on a
// node.
#include <longshore/halo/detail/backends/neighbour_handshake.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace longshore::detail {
namespace {

// Longer messages travel in several packets.
constexpr std::size_t packet_bytes = 2048;
constexpr int packet_slots = 2;

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
