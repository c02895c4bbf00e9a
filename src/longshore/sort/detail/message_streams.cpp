// Cuts the streams of bytes for each peer into messages that fill a slot of a channel, and sends
// and receives by turns until all streams have ended.
#include <longshore/core/bytes.hpp>
#include <longshore/sort/detail/message_streams.hpp>
#include <longshore/transport/stream_ends.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace longshore::detail {
namespace {

constexpr std::size_t min_slot_bytes = cache_line_bytes, max_slot_bytes = std::size_t{32} << 10;
constexpr int slots_per_channel = 2;
// The bytes of slots between hosts, per rank and direction. More slots would no longer fit the
// cache, which costs more on fast networks than the slots gain.
constexpr std::size_t bytes_under_way = std::size_t{512} << 10;

}  // namespace

// Slots grow by powers of two. So channels are rarely opened anew if blocks grow from run to run.
void message_streams::make_room(std::size_t longest_bytes) {
  const std::size_t wanted =
      std::bit_ceil(std::clamp(longest_bytes, min_slot_bytes, max_slot_bytes));
  const std::size_t slot_bytes = std::max<std::size_t>(1, wanted / unit_bytes_) * unit_bytes_;
  if (channels_ && slot_bytes <= slot_bytes_) return;
  channels_.reset();
  const node_map& nodes = team_.nodes();
  const int between_hosts =
      slots_between_hosts(slot_bytes, static_cast<std::size_t>(nodes.most_ranks_off_host()),
                          slots_per_channel, bytes_under_way);
  auto to = stream_ends(nodes, to_, slot_bytes, slots_per_channel, between_hosts);
  for (auto& end : to) end.streams = true;
  channels_ = team_.open_channels(
      to, stream_ends(nodes, from_, slot_bytes, slots_per_channel, between_hosts),
      slots_per_channel);
  slot_bytes_ = slot_bytes;
}

void message_streams::run(send_order order, const sent_callback& sent,
                          const received_callback& received) {
  begin();
  while (!is_done())
    for (waiter wait(team_, "a free slot or a message"); !advance(order, sent, received);
         wait.pause()) {
    }
  clear();
}

void message_streams::begin(bool awaits_pieces) {
  awaits_pieces_ = awaits_pieces;
  find_sending();
  receiving_.clear();
  for (std::size_t k = 0; k < receivers_.size(); ++k)
    if (!receivers_[k].ended()) receiving_.push_back(k);
}

void message_streams::add_last_pieces() {
  awaits_pieces_ = false;
  find_sending();
}

// A stream that awaits pieces has not ended.
void message_streams::find_sending() {
  sending_.clear();
  for (std::size_t k = 0; k < senders_.size(); ++k)
    if (awaits_pieces_ || !senders_[k].ended()) sending_.push_back(k);
}

bool message_streams::advance(send_order order, const sent_callback& sent,
                              const received_callback& received) {
  bool moved = false;
  if (order == send_order::interleaved) {
    for (const std::size_t k : sending_) moved |= send_message(k, sent);
  } else {
    for (const std::size_t k : sending_) {
      while (!senders_[k].ended() && send_message(k, sent)) moved = true;
      if (!senders_[k].ended()) break;
    }
  }
  if (!awaits_pieces_) std::erase_if(sending_, [&](std::size_t k) { return senders_[k].ended(); });
  for (const std::size_t k : receiving_) moved |= receive_message(k, received);
  std::erase_if(receiving_, [&](std::size_t k) { return receivers_[k].ended(); });
  return moved;
}

void message_streams::clear() noexcept {
  for (auto& sender : senders_) sender.clear();
  for (auto& receiver : receivers_) receiver.clear();
}

bool message_streams::fills_slot(const stream<outgoing_piece>& from) const noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = from.current; i < from.pieces.size() && bytes < slot_bytes_; ++i)
    bytes += from.pieces[i].bytes - (i == from.current ? from.done_bytes : 0);
  return bytes >= slot_bytes_;
}

// Fills and sends a slot if a slot is free. Returns whether a message was sent.
bool message_streams::send_message(std::size_t k, const sent_callback& sent) {
  auto& from = senders_[k];
  if (awaits_pieces_ && !fills_slot(from)) return false;
  std::byte* const slot = channels_->sender(k).reserve();
  if (slot == nullptr) return false;
  std::size_t filled = 0;
  while (!from.ended() && filled < slot_bytes_) {
    const auto& piece = from.pieces[from.current];
    const std::size_t part = std::min(slot_bytes_ - filled, piece.bytes - from.done_bytes);
    std::memcpy(slot + filled, piece.data + from.done_bytes, part);
    filled += part;
    from.done_bytes += part;
  }
  team_.charge_copy(team_.rank(), filled);
  channels_->sender(k).commit(filled);
  sent(to_[k], filled);
  return true;
}

// Stores a message if a message has arrived. Returns whether a message was stored.
bool message_streams::receive_message(std::size_t k, const received_callback& received) {
  const auto message = channels_->receiver(k).front();
  if (!message) return false;
  auto& to = receivers_[k];
  team_.charge_copy(channels_->receiver(k).peer(), message->size());
  for (std::size_t taken = 0; taken < message->size() && !to.ended();) {
    const auto& piece = to.pieces[to.current];
    const std::size_t part = std::min(message->size() - taken, piece.bytes - to.done_bytes);
    std::memcpy(piece.data + to.done_bytes, message->data() + taken, part);
    if (received) received(piece.data + to.done_bytes, part);
    taken += part;
    to.done_bytes += part;
  }
  channels_->receiver(k).release();
  return true;
}

}  // namespace longshore::detail
