// Tests how messages between hosts are cut.
#include <longshore/exchange/detail/exchange_program.hpp>

#include <gtest/gtest.h>

namespace longshore::detail {
namespace {

// The elements of each message, and of each part of it.
template <class Message>
std::vector<std::vector<std::vector<std::uint32_t>>> elements_of(
    const std::vector<Message>& messages) {
  std::vector<std::vector<std::vector<std::uint32_t>>> all;
  for (const auto& message : messages) {
    auto& parts = all.emplace_back();
    for (const auto& part : message.parts) parts.push_back(part.elements.list().to_vector());
  }
  return all;
}

// Memories with one field of bytes.
rank_memories memories_of_bytes(std::size_t count) {
  return rank_memories(count, bound_fields{{nullptr, 1, 1, 0}});
}

TEST(ExchangeProgram, messages_to_other_hosts_are_cut_alike_at_both_ends) {
  const std::vector<int> hosts{0, 0, 1};
  const node_map nodes(hosts, 0, 1);
  const index_list run(10, 5), scattered(std::vector<std::uint32_t>{7, 3, 9});
  exchange_round round;
  for (const int peer : {1, 2}) {
    round.outgoing.push_back({peer, {{0, run}, {0, scattered}}});
    round.incoming.push_back({peer, {{0, run, 1, run, 4}, {0, scattered, 2, {}, 5}}});
  }
  const auto cut = cut_messages(round, nodes, memories_of_bytes(3), 3);
  const std::vector<std::vector<std::vector<std::uint32_t>>> expected{
      {{10, 11, 12, 13, 14}, {7, 3, 9}},  // to the same host
      {{10, 11, 12}},
      {{13, 14}, {7}},
      {{3, 9}}};
  EXPECT_EQ(elements_of(cut.outgoing), expected);
  EXPECT_EQ(elements_of(cut.incoming), expected);
  EXPECT_EQ(cut.outgoing.back().peer, 2);
  const auto& pieces = cut.incoming[2].parts;
  EXPECT_EQ(pieces[0].sender_elements.list().to_vector(), (std::vector<std::uint32_t>{13, 14}));
  EXPECT_TRUE(pieces[1].sender_elements.empty());
  EXPECT_EQ(pieces[1].contributor, 5);
  EXPECT_EQ(pieces[1].sender_memory, 2);
}

TEST(ExchangeProgram, short_and_empty_messages_are_not_cut) {
  const std::vector<int> hosts{0, 1};
  const node_map nodes(hosts, 0, 0);
  exchange_round round;
  round.outgoing.push_back({1, {{0, index_list(0, 3)}}});
  round.outgoing.push_back({1, {{0, index_list()}}});
  const auto cut = cut_messages(round, nodes, memories_of_bytes(3), 3);
  ASSERT_EQ(cut.outgoing.size(), 2u);
  EXPECT_EQ(cut.outgoing[0].parts[0].elements.size(), 3u);
  EXPECT_EQ(cut.outgoing[1].parts.size(), 1u);  // an accumulate waits for each part
}

}  // namespace
}  // namespace longshore::detail
