// Plans the messages from the ghosts backwards: ranks ask the gateways of their node for elements,
// gateways join the questions and ask owners, or the collectors of the owners' node, which ask the
// owners. Each question makes a message of an update, and in the other direction one of an
// accumulate.
#include <longshore/ghost/detail/node_aware.hpp>

#include <longshore/transport/handshake_message.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace longshore::detail {
namespace {

// The buffers: unique elements at gateways and at collectors, contributions at both.
constexpr int gateway_elements = first_buffer, collector_elements = first_buffer + 1,
              gateway_contributions = first_buffer + 2, collector_contributions = first_buffer + 3;

// The messages of a round while parts are added to them.
class round_builder {
 public:
  void give(int peer, outgoing_part part) { outgoing_[peer].push_back(std::move(part)); }
  void take(int peer, incoming_part part) { incoming_[peer].push_back(std::move(part)); }
  [[nodiscard]] ghost_round build(int me) && {
    ghost_round round;
    for (auto& [peer, parts] : outgoing_)
      if (peer != me) round.outgoing.push_back({peer, std::move(parts)});
    for (auto& [peer, parts] : incoming_) round.incoming.push_back({peer, std::move(parts)});
    return round;
  }

 private:
  std::map<int, std::vector<outgoing_part>> outgoing_;
  std::map<int, std::vector<incoming_part>> incoming_;
};

void append(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}
void append_range(std::vector<std::uint32_t>& to, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to.push_back(static_cast<std::uint32_t>(first + i));
}

void write(handshake_writer& writer, const std::vector<std::uint32_t>& list) {
  writer.add(static_cast<std::uint32_t>(list.size()));
  writer.add_all(std::span<const std::uint32_t>(list));
}
std::vector<std::uint32_t> read(handshake_reader& reader) {
  const auto count = reader.take<std::uint32_t>();
  return reader.take_all<std::uint32_t>(count);
}

using messages_by_rank = std::map<int, handshake_writer>;
struct received_message {
  int rank;
  std::vector<std::byte> bytes;
};

// The ghosts of rank `reader` that are elements of `owner`, as the gateway learns of them.
struct wanted_block {
  int owner = -1, reader = -1;
  std::vector<std::uint32_t> offsets, ghosts;
};

class planner {
 public:
  planner(const ghost_links& links, int steps, bool updates, bool accumulates)
      : links_(links),
        ranks_(links.ranks()),
        nodes_(ranks_.nodes()),
        me_(ranks_.rank()),
        steps_(steps),
        updates_(updates),
        accumulates_(accumulates),
        update_(static_cast<std::size_t>(steps)),
        accumulate_(static_cast<std::size_t>(steps)) {
    std::vector<int> mates;
    for (const int rank : nodes_.my_ranks())
      if (rank != me_) mates.push_back(rank);
    near_ = std::make_shared<messenger>(ranks_, std::move(mates));
  }

  node_aware_programs plan();

 private:
  [[nodiscard]] int gateway_of(int owner) const {
    const auto mates = nodes_.my_ranks();
    const int place = steps_ == 2 ? nodes_.local_index(owner) : nodes_.node_of(owner);
    return mates[static_cast<std::size_t>(place) % mates.size()];
  }
  // The rank that a gateway of this node asks for elements of `owner`.
  [[nodiscard]] int source_of(int owner) const {
    return steps_ == 2 ? owner : collectors_.at(nodes_.node_of(owner));
  }
  void find_collectors(std::span<const wanted_block> wanted);
  [[nodiscard]] std::vector<received_message> exchange(messenger& messages_to_peers,
                                                       messages_by_rank messages) const;

  void add_local_links();
  [[nodiscard]] std::vector<wanted_block> ask_gateways();
  void spread(std::vector<wanted_block>& wanted);
  void ask_sources(std::span<const wanted_block> wanted);
  void answer_as_owner(std::span<const received_message> questions);
  void answer_as_collector(std::span<const received_message> questions);

  const ghost_links& links_;
  team& ranks_;
  const node_map& nodes_;
  int me_, steps_;
  bool updates_, accumulates_;
  std::shared_ptr<messenger> near_;
  std::vector<round_builder> update_, accumulate_;
  std::vector<std::size_t> buffer_elements_ = std::vector<std::size_t>(4);
  std::map<int, int> collectors_;  // by node: its collector for this node
  // The elements that this rank gets as a gateway, in the order of owners.
  struct remote_element {
    int node, owner;
    std::uint32_t offset;
    friend auto operator<=>(const remote_element&, const remote_element&) = default;
  };
  std::vector<remote_element> elements_;
};

// The messages of peers, and the message of this rank to itself, in the order of ranks.
std::vector<received_message> planner::exchange(messenger& messages_to_peers,
                                                messages_by_rank messages) const {
  std::vector<std::vector<std::byte>> outgoing;
  for (const int peer : messages_to_peers.peers()) outgoing.push_back(messages[peer].take());
  auto incoming = messages_to_peers.exchange(outgoing);
  std::vector<received_message> received;
  for (std::size_t i = 0; i < incoming.size(); ++i)
    if (!incoming[i].empty())
      received.push_back({messages_to_peers.peers()[i], std::move(incoming[i])});
  if (auto own = messages[me_].take(); !own.empty())
    received.insert(std::find_if(received.begin(), received.end(),
                                 [this](const auto& m) { return m.rank > me_; }),
                    {me_, std::move(own)});
  return received;
}

// Links within the node: straight from the owner, and straight to the owner.
void planner::add_local_links() {
  for (const auto& link : links_.to_readers()) {
    if (!nodes_.is_local(link.rank)) continue;
    update_.front().give(link.rank, {owned_memory, link.owned});
    accumulate_.back().take(
        link.rank, {owned_memory, link.owned, ghost_memory_number, link.ghosts, link.rank});
  }
  for (const auto& link : links_.to_owners()) {
    if (!nodes_.is_local(link.rank)) continue;
    update_.front().take(link.rank,
                         {ghost_memory_number, link.ghosts, owned_memory, link.owned, link.rank});
    accumulate_.back().give(link.rank, {ghost_memory_number, link.ghosts});
  }
}

// Returns what the ranks of the node want of this rank as a gateway: by rank, and by owner.
std::vector<wanted_block> planner::ask_gateways() {
  messages_by_rank questions;
  std::map<int, std::vector<std::uint32_t>> ghosts;  // by gateway
  for (const auto& link : links_.to_owners()) {
    if (nodes_.is_local(link.rank)) continue;
    const int gateway = gateway_of(link.rank);
    auto& writer = questions[gateway];
    writer.add(link.rank);
    write(writer, link.owned.to_vector());
    write(writer, link.ghosts.to_vector());
    append(ghosts[gateway], link.ghosts.to_vector());
  }
  std::vector<wanted_block> wanted;
  for (const auto& question : exchange(*near_, std::move(questions)))
    for (handshake_reader reader(question.bytes); !reader.at_end();) {
      wanted_block block{reader.take<int>(), question.rank, read(reader), {}};
      block.ghosts = read(reader);
      wanted.push_back(std::move(block));
    }
  spread(wanted);
  // The gateways have answered with the places of the elements in their buffers, in spread().
  for (const auto& [gateway, list] : ghosts)
    accumulate_.front().give(gateway, {ghost_memory_number, index_list(list)});
  return wanted;
}

// As a gateway: gives elements a place in the buffer, and tells the ranks that want them.
void planner::spread(std::vector<wanted_block>& wanted) {
  for (const auto& block : wanted)
    for (const auto offset : block.offsets)
      elements_.push_back({nodes_.node_of(block.owner), block.owner, offset});
  std::sort(elements_.begin(), elements_.end());
  elements_.erase(std::unique(elements_.begin(), elements_.end()), elements_.end());
  if (updates_) buffer_elements_[0] = elements_.size();
  std::map<int, std::vector<std::uint32_t>> places, ghosts;  // by reader
  for (const auto& block : wanted) {
    append(ghosts[block.reader], block.ghosts);
    for (const auto offset : block.offsets) {
      const auto at =
          std::lower_bound(elements_.begin(), elements_.end(),
                           remote_element{nodes_.node_of(block.owner), block.owner, offset});
      places[block.reader].push_back(static_cast<std::uint32_t>(at - elements_.begin()));
    }
  }
  messages_by_rank answers;
  for (const auto& [reader, list] : places) {
    write(answers[reader], list);
    write(answers[reader], ghosts[reader]);
    update_.back().give(reader, {gateway_elements, index_list(list)});
  }
  for (const auto& answer : exchange(*near_, std::move(answers))) {
    handshake_reader reader(answer.bytes);
    index_list at_gateway(read(reader));
    update_.back().take(answer.rank, {ghost_memory_number, index_list(read(reader)),
                                      gateway_elements, std::move(at_gateway), answer.rank});
  }

  // Contributions lie in the order of nodes, owners and ranks with ghosts.
  std::vector<const wanted_block*> order;
  for (const auto& block : wanted) order.push_back(&block);
  std::sort(order.begin(), order.end(), [this](const auto* a, const auto* b) {
    return std::tuple(nodes_.node_of(a->owner), a->owner, a->reader) <
           std::tuple(nodes_.node_of(b->owner), b->owner, b->reader);
  });
  std::map<const wanted_block*, std::size_t> first;
  std::size_t count = 0;
  for (const auto* block : order) {
    first[block] = count;
    count += block->offsets.size();
  }
  if (accumulates_) buffer_elements_[2] = count;
  std::map<int, std::vector<std::uint32_t>> slots;
  for (const auto& block : wanted)
    append_range(slots[block.reader], first[&block], block.offsets.size());
  for (const auto& [reader, list] : slots)
    accumulate_.front().take(reader, {gateway_contributions, index_list(list), ghost_memory_number,
                                      index_list(ghosts[reader]), reader});
  std::vector<wanted_block> sorted;
  for (const auto* block : order) sorted.push_back(*block);
  wanted = std::move(sorted);
}

// The collectors of the nodes that own wanted elements: their ranks take turns.
void planner::find_collectors(std::span<const wanted_block> wanted) {
  std::map<int, std::vector<int>> members;
  for (const auto& block : wanted) members[nodes_.node_of(block.owner)];
  for (int rank = 0; rank < ranks_.size(); ++rank)
    if (const auto node = members.find(nodes_.node_of(rank)); node != members.end())
      node->second.push_back(rank);
  for (const auto& [node, list] : members)
    collectors_[node] = list[static_cast<std::size_t>(nodes_.my_node()) % list.size()];
}

// As a gateway: asks for each element once, and says which contributions will come. `wanted` is in
// the order of contributions.
void planner::ask_sources(std::span<const wanted_block> wanted) {
  if (steps_ == 3) find_collectors(wanted);
  messages_by_rank questions;
  std::vector<int> sources;
  std::size_t element = 0, contribution = 0;
  for (std::size_t i = 0; i < wanted.size();) {
    const int source = source_of(wanted[i].owner);
    auto& writer = questions[source];
    const std::size_t first_element = element, first_contribution = contribution;
    for (; i < wanted.size() && source_of(wanted[i].owner) == source;) {
      const int owner = wanted[i].owner;
      std::vector<std::uint32_t> offsets;
      for (; element < elements_.size() && elements_[element].owner == owner; ++element)
        offsets.push_back(elements_[element].offset);
      std::uint32_t readers = 0;
      while (i + readers < wanted.size() && wanted[i + readers].owner == owner) ++readers;
      writer.add(owner);
      write(writer, offsets);
      writer.add(readers);
      for (std::uint32_t k = 0; k < readers; ++k, ++i) {
        writer.add(wanted[i].reader);
        write(writer, wanted[i].offsets);
        const auto count = wanted[i].offsets.size();
        if (steps_ == 2)  // the owner combines the contributions of each rank in turn
          accumulate_[1].give(
              source,
              {gateway_contributions, index_list(static_cast<std::uint32_t>(contribution), count)});
        contribution += count;
      }
    }
    sources.push_back(source);
    const auto range = [](std::size_t first, std::size_t end) {
      return index_list(static_cast<std::uint32_t>(first), end - first);
    };
    const auto far = static_cast<std::size_t>(steps_ - 2);
    update_[far].take(source, {gateway_elements,
                               range(first_element, element),
                               steps_ == 2 ? owned_memory : collector_elements,
                               {},
                               source});
    if (steps_ == 3)
      accumulate_[1].give(source, {gateway_contributions, range(first_contribution, contribution)});
  }
  std::sort(sources.begin(), sources.end());
  const auto far = messenger::to(ranks_, sources);
  const auto received = exchange(*far, std::move(questions));
  if (steps_ == 2)
    answer_as_owner(received);
  else
    answer_as_collector(received);
}

void planner::answer_as_owner(std::span<const received_message> questions) {
  for (const auto& question : questions)
    for (handshake_reader reader(question.bytes); !reader.at_end();) {
      (void)reader.take<int>();  // the owner is this rank
      update_[0].give(question.rank, {owned_memory, index_list(read(reader))});
      for (auto readers = reader.take<std::uint32_t>(); readers > 0; --readers) {
        const int ghost_rank = reader.take<int>();
        accumulate_[1].take(
            question.rank,
            {owned_memory, index_list(read(reader)), gateway_contributions, {}, ghost_rank});
      }
    }
}

void planner::answer_as_collector(std::span<const received_message> questions) {
  struct asked_owner {
    std::vector<std::uint32_t> offsets, places;
    handshake_writer contributions;
    std::vector<outgoing_part> parts;
  };
  std::map<int, asked_owner> owners;
  std::size_t element = 0, contribution = 0;
  for (const auto& question : questions) {
    const std::size_t first_element = element, first_contribution = contribution;
    for (handshake_reader reader(question.bytes); !reader.at_end();) {
      auto& owner = owners[reader.take<int>()];
      const auto offsets = read(reader);
      append(owner.offsets, offsets);
      append_range(owner.places, element, offsets.size());
      element += offsets.size();
      for (auto readers = reader.take<std::uint32_t>(); readers > 0; --readers) {
        const int ghost_rank = reader.take<int>();
        const auto list = read(reader);
        owner.contributions.add(ghost_rank);
        owner.contributions.add(static_cast<std::uint32_t>(contribution));
        write(owner.contributions, list);
        owner.parts.push_back({collector_contributions,
                               index_list(static_cast<std::uint32_t>(contribution), list.size())});
        contribution += list.size();
      }
    }
    update_[1].give(question.rank,
                    {collector_elements, index_list(static_cast<std::uint32_t>(first_element),
                                                    element - first_element)});
    accumulate_[1].take(question.rank, {collector_contributions,
                                        index_list(static_cast<std::uint32_t>(first_contribution),
                                                   contribution - first_contribution),
                                        gateway_contributions,
                                        {},
                                        question.rank});
  }
  if (updates_) buffer_elements_[1] = element;
  if (accumulates_) buffer_elements_[3] = contribution;
  messages_by_rank messages;
  for (auto& [rank, owner] : owners) {
    write(messages[rank], owner.offsets);
    messages[rank].add_all(std::span<const std::byte>(owner.contributions.take()));
    update_[0].take(rank, {collector_elements, index_list(owner.places), owned_memory,
                           index_list(owner.offsets), rank});
    for (auto& part : owner.parts) accumulate_[2].give(rank, std::move(part));
  }
  for (const auto& message : exchange(*near_, std::move(messages))) {
    handshake_reader reader(message.bytes);
    update_[0].give(message.rank, {owned_memory, index_list(read(reader))});
    while (!reader.at_end()) {
      const int ghost_rank = reader.take<int>();
      const auto first = reader.take<std::uint32_t>();
      index_list owned(read(reader));
      const index_list from(first, owned.size());
      accumulate_[2].take(message.rank, {owned_memory, std::move(owned), collector_contributions,
                                         from, ghost_rank});
    }
  }
}

node_aware_programs planner::plan() {
  add_local_links();
  ask_sources(ask_gateways());
  node_aware_programs programs;
  for (auto& round : update_) programs.update.rounds.push_back(std::move(round).build(me_));
  for (auto& round : accumulate_) programs.accumulate.rounds.push_back(std::move(round).build(me_));
  programs.buffer_elements = buffer_elements_;
  programs.node_messenger = near_;
  return programs;
}

}  // namespace

node_aware_programs plan_node_aware(const ghost_links& links, int steps, bool updates,
                                    bool accumulates) {
  return planner(links, steps, updates, accumulates).plan();
}

}  // namespace longshore::detail
