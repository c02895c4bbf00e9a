// Packs outgoing messages into free slots of channels, and unpacks incoming messages from their
// slots. The constructor joins small messages to the same neighbour.
#include <longshore/halo/detail/backends/channel_backend.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {
namespace {

constexpr int slots_per_channel = 2;
// Between nodes, messages of at least this size are not joined. An earlier start of the receiver
// gains more than a saved message.
constexpr std::size_t unjoined_from_bytes = 16384;
// Messages of at least this size to far peers are packed with streaming stores. Smaller messages
// gain nothing.
constexpr std::size_t streamed_from_bytes = 4096;

// Returns the earlier message to which `message` can be joined, or null. Both ends see the messages
// between them in the same order and with the same sizes. So both ends join the same messages.
template <class Message>
Message* joinable(std::vector<Message>& messages, const halo_message& message) {
  if (message.size_bytes() >= unjoined_from_bytes) return nullptr;
  const auto earlier = std::find_if(messages.begin(), messages.end(), [&](const Message& m) {
    return m.peer == message.peer && m.message.size_bytes() < unjoined_from_bytes;
  });
  return earlier == messages.end() ? nullptr : &*earlier;
}

}  // namespace

channel_backend::channel_backend(team& team, const halo_round& round,
                                 const backend_options& options, std::span<const int> far_peers)
    : team_(team),
      delivery_(options.delivery),
      workers_(options.workers),
      touched_bytes_(options.touched_bytes),
      received_(round.size(), nullptr) {
  // All ranks have the directions in the same order, and one message per direction. So the n-th
  // channel from rank A to rank B is the same at both ends, even if the ranks are neighbours in
  // several directions.
  const auto stores_of = [&](const halo_message& message) {
    const bool streams = can_stream_lines && message.size_bytes() >= streamed_from_bytes &&
                         std::binary_search(far_peers.begin(), far_peers.end(), message.peer);
    return streams ? copy_stores::streaming : copy_stores::ordinary;
  };
  const auto may_join = [&](const halo_message& message) {
    return delivery_ == halo_delivery::unpacked && !team.nodes().is_local(message.peer);
  };
  for (std::size_t pair = 0; pair < round.size(); ++pair) {
    const auto& [direction, out, in] = round[pair];
    if (out.exists()) {
      count_message(moved_, team, out);
      auto* const earlier = may_join(out) ? joinable(outgoing_, out) : nullptr;
      if (earlier != nullptr)
        earlier->message.append(out);
      else
        outgoing_.push_back({out.peer, packed_message(out, stores_of(out)), nullptr});
    }
    if (in.exists()) {
      if (delivery_ == halo_delivery::unpacked) received_[pair] = in.contiguous();
      auto* const earlier = may_join(in) ? joinable(incoming_, in) : nullptr;
      if (earlier != nullptr)
        earlier->message.append(in);
      else
        incoming_.push_back({in.peer, packed_message(in), nullptr, pair});
    }
  }
  moved_.messages = outgoing_.size();
  std::vector<channel_end> to, from;
  for (const auto& out : outgoing_) to.push_back({out.peer, out.message.size_bytes()});
  for (const auto& in : incoming_) from.push_back({in.peer, in.message.size_bytes()});
  channels_ = team.open_channels(to, from, slots_per_channel);
  for (std::size_t i = 0; i < outgoing_.size(); ++i) outgoing_[i].channel = &channels_->sender(i);
  for (std::size_t i = 0; i < incoming_.size(); ++i) incoming_[i].channel = &channels_->receiver(i);
  pending_.reserve(incoming_.size());
}

void channel_backend::release_kept_slots() {
  if (!keeps_slots_) return;
  for (auto& in : incoming_) in.channel->release();
  keeps_slots_ = false;
}

void channel_backend::start() {
  assert(sent_ == outgoing_.size() || sent_ == 0);
  release_kept_slots();
  sent_ = 0;
  pending_.clear();
  for (std::size_t i = 0; i < incoming_.size(); ++i) pending_.push_back(i);
  send();
}

void channel_backend::send() {
  for (; sent_ < outgoing_.size(); ++sent_) {
    auto& out = outgoing_[sent_];
    std::byte* const slot = out.channel->reserve();
    if (slot == nullptr) return;
    out.message.pack(slot, workers_);
    team_.charge_copy(team_.rank(),
                      {out.message.size_bytes(), out.message.line_count(), touched_bytes_});
    out.channel->commit(out.message.size_bytes());
  }
}

void channel_backend::receive() {
  for (std::size_t i = 0; i < pending_.size();) {
    auto& in = incoming_[pending_[i]];
    const auto message = in.channel->front();
    if (!message) {
      ++i;
      continue;
    }
    if (delivery_ == halo_delivery::unpacked) {
      assert(message->size() == in.message.size_bytes());
      in.message.unpack(message->data(), workers_);
      team_.charge_copy(in.channel->peer(),
                        {message->size(), in.message.line_count(), touched_bytes_});
      in.channel->release();
    } else {
      received_[in.pair] = message->data();
      keeps_slots_ = true;
    }
    pending_[i] = pending_.back();
    pending_.pop_back();
  }
}

void channel_backend::progress() {
  send();
  receive();
}

int channel_backend::awaited_peer() const {
  return pending_.empty() ? outgoing_[sent_].channel->peer()
                          : incoming_[pending_.front()].channel->peer();
}

}  // namespace longshore::detail
