// Cuts long messages.
#include <longshore/exchange/detail/exchange_program.hpp>

#include <algorithm>

namespace longshore::detail {
namespace {

outgoing_part slice(const outgoing_part& part, std::size_t begin, std::size_t count) {
  return {part.memory, part.elements.list().slice(begin, count)};
}
incoming_part slice(const incoming_part& part, std::size_t begin, std::size_t count) {
  auto sender_elements = part.sender_elements.list();  // empty if this rank does not know them
  if (!sender_elements.empty()) sender_elements = sender_elements.slice(begin, count);
  return {part.memory,        part.elements.list().slice(begin, count),
          part.sender_memory, std::move(sender_elements),
          part.contributor,   part.number};
}

template <class Message>
std::vector<Message> cut(const std::vector<Message>& messages, const node_map& nodes,
                         const rank_memories& memories, std::size_t max_bytes) {
  std::vector<Message> pieces;
  for (const auto& message : messages) {
    std::size_t left = max_bytes;  // of the current piece
    pieces.push_back({message.peer, {}});
    for (const auto& part : message.parts) {
      if (nodes.is_on_host(message.peer) || part.elements.box() != nullptr) {
        pieces.back().parts.push_back(part);
        continue;
      }
      const std::size_t bytes = std::max<std::size_t>(
          1, element_bytes_of(memories[static_cast<std::size_t>(part.memory)]));
      std::size_t begin = 0;
      do {
        if (left < bytes && !pieces.back().parts.empty()) {
          pieces.push_back({message.peer, {}});
          left = max_bytes;
        }
        const std::size_t count =
            std::min(std::max<std::size_t>(left / bytes, 1), part.elements.size() - begin);
        pieces.back().parts.push_back(slice(part, begin, count));
        begin += count;
        left -= std::min(left, count * bytes);
      } while (begin < part.elements.size());
    }
  }
  return pieces;
}

}  // namespace

exchange_round cut_messages(const exchange_round& round, const node_map& nodes,
                            const rank_memories& memories, std::size_t max_bytes) {
  return {cut(round.outgoing, nodes, memories, max_bytes),
          cut(round.incoming, nodes, memories, max_bytes), round.combines};
}

}  // namespace longshore::detail
