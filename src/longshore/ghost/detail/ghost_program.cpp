// Makes programs of one round, with a message per neighbour. Cuts long messages.
#include <longshore/ghost/detail/ghost_program.hpp>

#include <algorithm>

namespace longshore::detail {
namespace {

outgoing_part slice(const outgoing_part& part, std::size_t begin, std::size_t count) {
  return {part.memory, part.elements.slice(begin, count)};
}
incoming_part slice(const incoming_part& part, std::size_t begin, std::size_t count) {
  auto sender_elements = part.sender_elements;  // empty if this rank does not know them
  if (!sender_elements.empty()) sender_elements = sender_elements.slice(begin, count);
  return {part.memory, part.elements.slice(begin, count), part.sender_memory,
          std::move(sender_elements), part.ghost_rank};
}

template <class Message>
std::vector<Message> cut(const std::vector<Message>& messages, const node_map& nodes,
                         std::size_t max_elements) {
  std::vector<Message> pieces;
  for (const auto& message : messages) {
    std::size_t left = max_elements;  // of the current piece
    pieces.push_back({message.peer, {}});
    for (const auto& part : message.parts) {
      if (nodes.is_on_host(message.peer)) {
        pieces.back().parts.push_back(part);
        continue;
      }
      std::size_t begin = 0;
      do {
        if (left == 0) {
          pieces.push_back({message.peer, {}});
          left = max_elements;
        }
        const std::size_t count = std::min(left, part.elements.size() - begin);
        pieces.back().parts.push_back(slice(part, begin, count));
        begin += count;
        left -= count;
      } while (begin < part.elements.size());
    }
  }
  return pieces;
}

}  // namespace

ghost_round cut_messages(const ghost_round& round, const node_map& nodes,
                         std::size_t max_elements) {
  return {cut(round.outgoing, nodes, max_elements), cut(round.incoming, nodes, max_elements)};
}

ghost_program direct_update(const ghost_links& links) {
  ghost_round round;
  for (const auto& link : links.to_readers())
    if (link.rank != links.ranks().rank())
      round.outgoing.push_back({link.rank, {{owned_memory, link.owned}}});
  for (const auto& link : links.to_owners())
    round.incoming.push_back(
        {link.rank, {{ghost_memory_number, link.ghosts, owned_memory, link.owned, link.rank}}});
  return {{std::move(round)}};
}

ghost_program direct_accumulate(const ghost_links& links) {
  ghost_round round;
  for (const auto& link : links.to_owners())
    if (link.rank != links.ranks().rank())
      round.outgoing.push_back({link.rank, {{ghost_memory_number, link.ghosts}}});
  for (const auto& link : links.to_readers())
    round.incoming.push_back(
        {link.rank, {{owned_memory, link.owned, ghost_memory_number, link.ghosts, link.rank}}});
  return {{std::move(round)}};
}

}  // namespace longshore::detail
