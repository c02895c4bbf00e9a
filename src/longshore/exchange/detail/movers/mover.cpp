// Packs and stores messages. A packed message has its parts one after another. Each part has its
// fields one after another.
#include <longshore/exchange/detail/movers/mover.hpp>

#include <longshore/core/streaming_store.hpp>

#include <algorithm>
#include <tuple>

namespace longshore::detail {
namespace {

// Returns fields like those of `memory` that lie in a packed message.
bound_fields packed_fields(const bound_fields& memory) {
  auto packed = memory;
  for (auto& field : packed) field = field.packed_at(nullptr);
  return packed;
}

element_memory packed_elements(const std::byte* data, const bound_field& like) {
  return {const_cast<std::byte*>(data), static_cast<std::ptrdiff_t>(like.element_bytes)};
}

}  // namespace

message_packer::message_packer(const mover_context& context, const outgoing_message& message) {
  bool is_aligned = true;
  for (const auto& out : message.parts) {
    const auto& memory = context.memory(out.memory);
    payload_bytes_ += out.elements.size() * element_bytes_of(memory);
    for (const auto& field : memory) is_aligned = is_aligned && field.element_bytes % 4 == 0;
  }
  if (can_stream_lines && is_aligned && context.knows_caches &&
      node_access::of(context.ranks).caches_of(message.peer).streams(payload_bytes_))
    stores_ = copy_stores::streaming;
  parts_.reserve(message.parts.size());
  for (const auto& out : message.parts) {
    const auto& memory = context.memory(out.memory);
    const auto count = out.elements.size();
    parts_.push_back(
        {out.memory,
         element_pairs(element_set(0, count), packed_fields(memory), out.elements, memory, stores_),
         packed_layout(memory, count, bytes_)});
    bytes_ = parts_.back().layout.end();
    lines_ += parts_.back().pairs.line_count();
  }
}

void message_packer::pack(const mover_context& context, std::span<const part> parts,
                          std::byte* message) const {
  for_task_shares(context.workers, payload_bytes_, [&](int task, int tasks) {
    for (const auto& packed : parts) {
      const auto& memory = context.memory(packed.memory);
      for (std::size_t k = 0; k < memory.size(); ++k)
        packed.pairs.copy(k, packed_elements(message + packed.layout.offset(k), memory[k]),
                          memory[k].elements(), memory[k].element_bytes, task, tasks);
    }
    if (stores_ == copy_stores::streaming) fence_streaming_stores();
  });
}

std::size_t message_packer::memory_bytes() const noexcept {
  std::size_t bytes = parts_.size() * sizeof(part);
  for (const auto& packed : parts_) bytes += packed.pairs.memory_bytes();
  return bytes;
}

std::size_t message_store::add(const incoming_message& message, const rank_memories* sender) {
  messages_.push_back({message.peer, sender, {}});
  add_parts(message, messages_.back());
  return messages_.size() - 1;
}

void message_store::add_parts(const incoming_message& message, stored_message& stored) {
  const auto* const sender = stored.sender;
  for (const auto& in : message.parts) {
    const auto& memory = context_.memory(in.memory);
    const auto count = in.elements.size();
    stored.parts.push_back(
        {in.memory, in.sender_memory, in.contributor, in.number,
         sender == nullptr
             ? element_pairs(in.elements, memory, element_set(0, count), packed_fields(memory))
             : element_pairs(in.elements, memory, in.sender_elements,
                             (*sender)[static_cast<std::size_t>(in.sender_memory)]),
         packed_layout(memory, count, stored.bytes), count * element_bytes_of(memory)});
    stored.bytes = stored.parts.back().layout.end();
    stored.payload_bytes += stored.parts.back().payload_bytes;
    stored.lines += stored.parts.back().pairs.line_count();
  }
}

void message_store::sort() {
  are_boxes_ = true;
  for (auto& message : messages_) {
    const bool has_boxes = std::all_of(message.parts.begin(), message.parts.end(),
                                       [](const part& p) { return p.pairs.are_boxes(); });
    message.is_batch = message.sender != nullptr && has_boxes;
    are_boxes_ = are_boxes_ && has_boxes;
  }
  for (std::size_t m = 0; m < messages_.size(); ++m)
    for (std::size_t p = 0; p < messages_[m].parts.size(); ++p) order_.push_back({m, p});
  const auto key = [this](const place& at) {
    const auto& stored = messages_[at.message].parts[at.part];
    return std::tuple(stored.contributor, stored.number, at.message, at.part);
  };
  std::sort(order_.begin(), order_.end(),
            [&](const place& a, const place& b) { return key(a) < key(b); });
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

void message_store::add_copies(const stored_message& message, const std::byte* packed,
                               copy_batch& batch) const {
  for (const auto& stored : message.parts)
    for_each_field(message, packed, stored,
                   [&](std::size_t k, const bound_field& to, const element_memory& from) {
                     const auto boxes = stored.pairs.boxes(k, to.elements(), from);
                     batch.add(boxes.to, boxes.from);
                   });
}

template <class F>
void message_store::for_each_field(const stored_message& message, const std::byte* packed,
                                   const part& stored, const F& f) const {
  const auto& memory = context_.memory(stored.memory);
  for (std::size_t k = 0; k < memory.size(); ++k)
    if (message.sender == nullptr)
      f(k, memory[k], packed_elements(packed + stored.layout.offset(k), memory[k]));
    else
      f(k, memory[k],
        (*message.sender)[static_cast<std::size_t>(stored.sender_memory)][k].elements());
}

// Combines a part.
void message_store::combine_part(const stored_message& message, const part& stored) const {
  for_each_field(message, message.packed, stored,
                 [&](std::size_t k, const bound_field& to, const element_memory& from) {
                   const auto& by = combiners_[static_cast<std::size_t>(to.number)];
                   stored.pairs.combine(k, to.elements(), from, by.loop, by.op);
                 });
  context_.charge_copy(message.peer, stored.payload_bytes, stored.pairs.line_count());
}

void message_store::store_all(stored_message& message) const {
  if (message.is_batch) return store_batch(message);
  for_task_shares(context_.workers, message.payload_bytes, [&](int task, int tasks) {
    for (const auto& stored : message.parts)
      for_each_field(message, message.packed, stored,
                     [&](std::size_t k, const bound_field& to, const element_memory& from) {
                       stored.pairs.copy(k, to.elements(), from, to.element_bytes, task, tasks);
                     });
  });
  context_.charge_copy(message.peer, message.payload_bytes, message.lines);
}

// Boxes that are read from the same sender are copied as a batch, which loads the rows of opposite
// faces once.
void message_store::store_batch(stored_message& message) const {
  const bool is_own = message.peer == context_.ranks.rank();
  if (!message.batch) {
    message.batch.emplace(is_own ? copy_source::own_memory : copy_source::other_rank);
    add_copies(message, nullptr, *message.batch);
  }
  message.batch->run(context_.workers);
  context_.charge_copy(message.peer,
                       is_own ? message.batch->size_bytes() : message.batch->line_bytes(),
                       message.batch->line_count());
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
