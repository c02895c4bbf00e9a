// Sends handshake messages of any length in packets through small channels between neighbours.
#include <longshore/exchange/detail/agreement/neighbour_handshake.hpp>

#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::detail {
namespace {

// Longer messages travel in several packets.
constexpr std::size_t packet_bytes = 2048;
constexpr int packet_slots = 2;

}  // namespace

neighbour_handshake::neighbour_handshake(team& ranks, std::span<const int> peers)
    : ranks_(ranks), memory_bytes_(2 * peers.size() * packet_slots * packet_bytes) {
  std::vector<channel_end> ends;
  for (const int peer : peers) ends.push_back({peer, packet_bytes});
  channels_ = ranks.open_channels(ends, ends, packet_slots);
}

// A message travels in full packets, followed by a packet that is not full and may be empty. The
// receiver recognises the end of the message by the packet that is not full.
std::vector<std::vector<std::byte>> neighbour_handshake::exchange_with(
    std::span<const std::size_t> which, const std::vector<std::vector<std::byte>>& messages) {
  std::vector<std::vector<std::byte>> received(which.size());
  std::vector<std::size_t> sent(which.size(), 0);  // bytes
  // Indices of the messages that are not complete.
  std::vector<std::size_t> sending(which.size());
  std::iota(sending.begin(), sending.end(), std::size_t{0});
  std::vector<std::size_t> receiving = sending;
  bool has_moved = false;
  // send and receive return whether the message is complete.
  const auto send = [&](std::size_t i) {
    auto& channel = channels_->sender(which[i]);
    while (std::byte* const slot = channel.reserve()) {
      const std::size_t bytes = std::min(packet_bytes, messages[i].size() - sent[i]);
      if (bytes > 0) std::memcpy(slot, messages[i].data() + sent[i], bytes);
      channel.commit(bytes);
      sent[i] += bytes;
      has_moved = true;
      if (bytes < packet_bytes) return true;
    }
    return false;
  };
  const auto receive = [&](std::size_t i) {
    auto& channel = channels_->receiver(which[i]);
    while (const auto packet = channel.front()) {
      const bool is_last = packet->size() < packet_bytes;
      received[i].insert(received[i].end(), packet->begin(), packet->end());
      channel.release();
      has_moved = true;
      if (is_last) return true;
    }
    return false;
  };
  const auto step = [&] {
    has_moved = false;
    std::erase_if(sending, send);
    std::erase_if(receiving, receive);
    return has_moved;
  };
  while (!sending.empty() || !receiving.empty())
    for (waiter wait(ranks_, "a neighbour to make the same plan"); !step(); wait.pause()) {
    }
  return received;
}

}  // namespace longshore::detail
