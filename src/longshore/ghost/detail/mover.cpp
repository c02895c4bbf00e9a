// Packs and stores messages. A packed message has its parts one after another. Each part has its
// fields one after another.
#include <longshore/ghost/detail/mover.hpp>

#include <algorithm>

namespace longshore::detail {

message_packer::message_packer(const mover_context& context, const outgoing_message& message) {
  for (const auto& out : message.parts) {
    const auto count = out.elements.size();
    packed_layout layout(context.fields, count);
    bytes_ = packed_layout::aligned(bytes_, context.fields);
    payload_bytes_ += layout.payload_bytes();
    parts_.push_back({out.memory, pair_list({0, count}, out.elements), std::move(layout), bytes_});
    bytes_ += parts_.back().layout.bytes();
  }
}

void message_packer::pack(const mover_context& context, std::byte* message) const {
  for (const auto& packed : parts_)
    for (std::size_t f = 0; f < context.fields.size(); ++f) {
      const std::size_t bytes = context.fields[f].element_bytes;
      packed.pairs.copy(
          {message + packed.offset + packed.layout.offset(f), static_cast<std::ptrdiff_t>(bytes)},
          context.memories[static_cast<std::size_t>(packed.memory)][f], bytes);
    }
  context.ranks.charge_copy(context.ranks.rank(), payload_bytes_);
}

std::size_t message_packer::memory_bytes() const noexcept {
  std::size_t bytes = parts_.size() * sizeof(part);
  for (const auto& packed : parts_) bytes += packed.pairs.memory_bytes();
  return bytes;
}

void message_store::add(const incoming_message& message, const rank_memories* sender) {
  stored_message stored{message.peer, sender, {}, 0};
  for (const auto& in : message.parts) {
    const auto count = in.elements.size();
    packed_layout layout(context_.fields, count);
    stored.bytes = packed_layout::aligned(stored.bytes, context_.fields);
    order_.push_back({messages_.size(), stored.parts.size()});
    stored.parts.push_back(
        {in.memory, in.sender_memory, in.ghost_rank,
         pair_list(in.elements, sender == nullptr ? index_list(0, count) : in.sender_elements),
         std::move(layout), stored.bytes});
    stored.bytes += stored.parts.back().layout.bytes();
  }
  messages_.push_back(std::move(stored));
}

void message_store::sort() {
  std::stable_sort(order_.begin(), order_.end(), [this](const place& a, const place& b) {
    return messages_[a.message].parts[a.part].ghost_rank <
           messages_[b.message].parts[b.part].ghost_rank;
  });
}

void message_store::start(std::span<const combiner> combiners) {
  combiners_ = combiners;
  next_ = 0;
  unfinished_ = messages_.size();
  for (auto& message : messages_) {
    message.has_arrived = false;
    message.missing_parts = message.parts.size();
  }
}

void message_store::store(const stored_message& message, const part& stored) const {
  for (std::size_t f = 0; f < context_.fields.size(); ++f) {
    const std::size_t bytes = context_.fields[f].element_bytes;
    const auto& to = context_.memories[static_cast<std::size_t>(stored.memory)][f];
    const element_memory from =
        message.sender == nullptr
            ? element_memory{const_cast<std::byte*>(message.packed) + stored.offset +
                                 stored.layout.offset(f),
                             static_cast<std::ptrdiff_t>(bytes)}
            : (*message.sender)[static_cast<std::size_t>(stored.sender_memory)][f];
    if (combiners_.empty())
      stored.pairs.copy(to, from, bytes);
    else
      stored.pairs.combine(to, from, combiners_[f].loop, combiners_[f].op);
  }
  if (message.sender == nullptr || message.peer == context_.ranks.rank())
    context_.ranks.charge_copy(context_.ranks.rank(), stored.layout.payload_bytes());
  else
    context_.ranks.charge_copy(message.peer, stored.layout.payload_bytes());
}

std::size_t message_store::memory_bytes() const noexcept {
  std::size_t bytes = order_.size() * sizeof(place);
  for (const auto& message : messages_) {
    bytes += sizeof(message) + message.parts.size() * sizeof(part);
    for (const auto& stored : message.parts) bytes += stored.pairs.memory_bytes();
  }
  return bytes;
}

}  // namespace longshore::detail
