// Derives the messages of the node-aware strategies from the links of the ranks of a node.
#include <longshore/ghost/detail/node_aware.hpp>

#include <longshore/ghost/detail/ghost_plan.hpp>
#include <longshore/transport/detail/handshake_message.hpp>

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace longshore::detail {
namespace {

// The numbers of the buffers. Elements (each once) and contributions have a buffer each, at
// gateways and at collectors.
constexpr int gateway_elements = first_buffer, collector_elements = first_buffer + 1,
              gateway_contributions = first_buffer + 2, collector_contributions = first_buffer + 3;
constexpr std::size_t buffers = 4;

// In a request, tells whether the link is for a gateway or for a collector.
enum class role : std::uint32_t { gateway, collector };

index_list range(std::size_t first, std::size_t count) {
  return {static_cast<std::uint32_t>(first), count};
}

void append(std::vector<std::uint32_t>& to, const index_list& from) {
  for (std::size_t i = 0; i < from.size(); ++i) to.push_back(from[i]);
}

// Returns the numbers of all lists, each once, in ascending order.
std::vector<std::uint32_t> union_of(std::span<const index_list* const> lists) {
  std::vector<std::uint32_t> all;
  for (const auto* list : lists) append(all, *list);
  if (!std::is_sorted(all.begin(), all.end())) std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Appends the places of the numbers of `list` in `sorted`. Places are counted from `first`.
void append_places(std::vector<std::uint32_t>& to, const index_list& list, const index_list& sorted,
                   std::size_t first) {
  std::size_t at = 0;  // of the number before, which is often followed by the next
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (at + 1 < sorted.size() && sorted[at + 1] == list[i]) {
      ++at;
    } else {
      const auto places = std::views::iota(std::size_t{0}, sorted.size());
      at = *std::ranges::lower_bound(places, list[i], {}, [&](std::size_t k) { return sorted[k]; });
    }
    to.push_back(static_cast<std::uint32_t>(first + at));
  }
}

}  // namespace

node_aware_planner::node_aware_planner(const ghost_links& links, int steps,
                                       const ghost_options& options)
    : links_(links),
      nodes_(links.ranks().nodes()),
      me_(links.ranks().rank()),
      steps_(steps),
      options_(options),
      update_(static_cast<std::size_t>(steps)),
      accumulate_(static_cast<std::size_t>(steps)),
      buffer_elements_(buffers) {
  std::vector<int> mates;
  for (const int rank : nodes_.my_ranks())
    if (rank != me_) mates.push_back(rank);
  node_messenger_ = std::make_shared<messenger>(links.ranks(), std::move(mates));
  for (const auto& link : links.to_owners())
    if (!nodes_.is_local(link.rank))
      wanted_.push_back({nodes_.node_of(link.rank), link.rank, me_, link.owned, link.ghosts});
  for (const auto& link : links.to_readers())
    if (!nodes_.is_local(link.rank))
      given_.push_back({nodes_.node_of(link.rank), me_, link.rank, link.owned, {}});
  for (auto* const list : {&wanted_, &given_})
    std::stable_sort(list->begin(), list->end(),
                     [](const node_link& a, const node_link& b) { return a.node < b.node; });
}

int node_aware_planner::end_on(int node, int other) const {
  const auto members = nodes_.ranks_of(node);
  return members[static_cast<std::size_t>(other) % members.size()];
}
int node_aware_planner::gateway_of(int owner) const {
  return end_on(nodes_.my_node(), steps_ == 2 ? nodes_.local_index(owner) : nodes_.node_of(owner));
}

// Returns the messages to mates, and keeps the message of this rank to itself.
node_aware_planner::messages node_aware_planner::outgoing(
    std::map<int, std::vector<std::byte>> by_rank) {
  messages to_mates;
  for (const int mate : node_messenger_->peers()) to_mates.push_back(std::move(by_rank[mate]));
  own_message_ = std::move(by_rank[me_]);
  return to_mates;
}
std::vector<node_aware_planner::from_rank> node_aware_planner::incoming(messages received) {
  std::vector<from_rank> all;
  for (std::size_t i = 0; i < received.size(); ++i)
    all.push_back({node_messenger_->peers()[i], std::move(received[i])});
  all.push_back({me_, std::move(own_message_)});
  return all;
}

node_aware_planner::messages node_aware_planner::requests() {
  std::map<int, handshake_writer> writers;
  for (const auto& wanted : wanted_) {
    auto& writer = writers[gateway_of(wanted.owner)];
    writer.add(role::gateway);
    writer.add(wanted.owner);
    write_list(writer, wanted.owned);
    write_list(writer, wanted.ghosts);
  }
  for (const auto& given : given_) {
    if (steps_ == 2) break;
    auto& writer = writers[end_on(nodes_.my_node(), given.node)];
    writer.add(role::collector);
    writer.add(given.reader);
    write_list(writer, given.owned);
  }
  std::map<int, std::vector<std::byte>> by_rank;
  for (auto& [rank, writer] : writers) by_rank[rank] = writer.take();
  return outgoing(std::move(by_rank));
}

node_aware_programs node_aware_planner::plan(messages requests) {
  std::vector<node_link> to_gateway, to_collector;
  for (const auto& request : incoming(std::move(requests)))
    for (handshake_reader reader(request.bytes); !reader.at_end();) {
      const auto asked = reader.take<role>();
      const int other = reader.take<int>();
      node_link one{nodes_.node_of(other), other, request.rank, read_list(reader), {}};
      if (asked == role::gateway) {
        one.ghosts = read_list(reader);
        to_gateway.push_back(std::move(one));
      } else {
        std::swap(one.owner, one.reader);
        to_collector.push_back(std::move(one));
      }
    }
  add_local_links();
  plan_as_owner();
  plan_as_reader();
  plan_as_gateway(crossings_of(std::move(to_gateway)));
  plan_as_collector(crossings_of(std::move(to_collector)));
  node_aware_programs programs;
  if (options_.updates)
    for (auto& round : update_) programs.update.push_back(std::move(round).build(me_));
  if (options_.accumulates) {
    for (auto& round : accumulate_) programs.accumulate.push_back(std::move(round).build(me_));
    programs.accumulate.back().combines = true;
  }
  programs.buffer_elements = buffer_elements_;
  return programs;
}

node_aware_planner::crossings node_aware_planner::crossings_of(std::vector<node_link> links) {
  std::sort(links.begin(), links.end(), [](const node_link& a, const node_link& b) {
    return std::tuple(a.node, a.owner, a.reader) < std::tuple(b.node, b.owner, b.reader);
  });
  crossings all;
  for (auto& one : links) {
    if (all.list.empty() || all.list.back().node != one.node || all.list.back().owner != one.owner)
      all.list.push_back({one.node, one.owner, {}, {}});
    one.first = all.contributions;
    all.contributions += one.owned.size();
    all.list.back().links.push_back(std::move(one));
  }
  for (auto& crossing : all.list) {
    std::vector<const index_list*> lists;
    for (const auto& one : crossing.links) lists.push_back(&one.owned);
    crossing.elements = index_list(union_of(lists));
    crossing.first = all.elements;
    all.elements += crossing.elements.size();
    const std::size_t contribution = crossing.links.front().first;
    if (all.nodes.empty() || all.nodes.back().node != crossing.node)
      all.nodes.push_back({crossing.node, range(crossing.first, 0), range(contribution, 0)});
    auto& node = all.nodes.back();
    node.elements = range(node.elements.first(), all.elements - node.elements.first());
    const auto& last = crossing.links.back();
    node.contributions = range(node.contributions.first(),
                               last.first + last.owned.size() - node.contributions.first());
  }
  return all;
}

// Within the node, no gateway or collector takes part. In updates the owner sends to the reader,
// and in accumulates the reader sends to the owner.
void node_aware_planner::add_local_links() {
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

// An owner sends to the gateways of other nodes, or to the collectors of its node. It combines the
// contributions of each rank in turn.
void node_aware_planner::plan_as_owner() {
  for (const auto& crossing : crossings_of(given_).list) {
    const int peer = steps_ == 2 ? end_on(crossing.node, nodes_.local_index(me_))
                                 : end_on(nodes_.my_node(), crossing.node);
    update_[0].give(peer, {owned_memory, crossing.elements});
    for (const auto& one : crossing.links)
      accumulate_.back().take(peer, {owned_memory,
                                     one.owned,
                                     steps_ == 2 ? gateway_contributions : collector_contributions,
                                     {},
                                     one.reader});
  }
}

// A gateway sends all ghosts of a reader in one part.
void node_aware_planner::plan_as_reader() {
  std::map<int, std::vector<std::uint32_t>> ghosts;  // by gateway
  for (const auto& wanted : wanted_) append(ghosts[gateway_of(wanted.owner)], wanted.ghosts);
  for (auto& [gateway, list] : ghosts) {
    const index_list shared(std::move(list));
    update_.back().take(gateway, {ghost_memory_number, shared, gateway_elements, {}, gateway});
    accumulate_.front().give(gateway, {ghost_memory_number, shared});
  }
}

void node_aware_planner::plan_as_gateway(const crossings& all) {
  if (options_.updates) buffer_elements_[0] = all.elements;
  if (options_.accumulates) buffer_elements_[2] = all.contributions;
  struct of_reader {
    std::vector<std::uint32_t> slots, ghosts;
  };
  std::map<int, of_reader> readers;
  for (const auto& node : all.nodes) {
    if (steps_ == 2) break;
    const int collector = end_on(node.node, nodes_.my_node());
    update_[1].take(collector,
                    {gateway_elements, node.elements, collector_elements, {}, collector});
    accumulate_[1].give(collector, {gateway_contributions, node.contributions});
  }
  for (const auto& crossing : all.list) {
    const auto elements = range(crossing.first, crossing.elements.size());
    if (steps_ == 2)
      update_[0].take(crossing.owner,
                      {gateway_elements, elements, owned_memory, {}, crossing.owner});
    for (const auto& one : crossing.links) {
      const auto slots = range(one.first, one.owned.size());
      if (steps_ == 2) accumulate_[1].give(crossing.owner, {gateway_contributions, slots});
      append_places(told_[one.reader].elements, one.owned, crossing.elements, crossing.first);
      auto& reader = readers[one.reader];
      append(reader.slots, slots);
      append(reader.ghosts, one.ghosts);
    }
  }
  for (auto& [reader, lists] : readers) {
    update_.back().give(reader, {gateway_elements, index_list(told_[reader].elements)});
    accumulate_.front().take(
        reader, {gateway_contributions, index_list(std::move(lists.slots)), ghost_memory_number,
                 index_list(std::move(lists.ghosts)), reader});
  }
}

void node_aware_planner::plan_as_collector(const crossings& all) {
  if (options_.updates) buffer_elements_[1] = all.elements;
  if (options_.accumulates) buffer_elements_[3] = all.contributions;
  for (const auto& node : all.nodes) {
    const int gateway = end_on(node.node, nodes_.my_node());
    update_[1].give(gateway, {collector_elements, node.elements});
    accumulate_[1].take(
        gateway, {collector_contributions, node.contributions, gateway_contributions, {}, gateway});
  }
  for (const auto& crossing : all.list) {
    const auto elements = range(crossing.first, crossing.elements.size());
    update_[0].take(crossing.owner, {collector_elements, elements, owned_memory, crossing.elements,
                                     crossing.owner});
    for (const auto& one : crossing.links) {
      const auto contributions = range(one.first, one.owned.size());
      accumulate_[2].give(crossing.owner, {collector_contributions, contributions});
      told_[crossing.owner].contributions.push_back(static_cast<std::uint32_t>(one.first));
    }
  }
}

node_aware_planner::messages node_aware_planner::places() {
  std::map<int, std::vector<std::byte>> by_rank;
  for (auto& [mate, told] : told_) {
    handshake_writer writer;
    write_list(writer, index_list(std::move(told.elements)));
    writer.add_values(std::span<const std::uint32_t>(told.contributions));
    by_rank[mate] = writer.take();
  }
  return outgoing(std::move(by_rank));
}

void node_aware_planner::complete(exchange_program& update, exchange_program& accumulate,
                                  messages places) {
  // Calls f(part) for each part that `rank` sends from `memory` in the last round.
  const auto for_each_part = [](exchange_program& program, int rank, int memory, const auto& f) {
    if (program.rounds.empty()) return;
    for (auto& message : program.rounds.back().incoming)
      for (auto& part : message.parts)
        if (message.peer == rank && part.sender_memory == memory) f(part);
  };
  for (const auto& told : incoming(std::move(places))) {
    if (told.bytes.empty()) continue;
    handshake_reader reader(told.bytes);
    const auto elements = read_list(reader);
    for_each_part(update, told.rank, gateway_elements,
                  [&](incoming_part& part) { part.sender_elements = elements; });
    for_each_part(accumulate, told.rank, collector_contributions, [&](incoming_part& part) {
      part.sender_elements = range(reader.take<std::uint32_t>(), part.elements.size());
    });
  }
}

}  // namespace longshore::detail
