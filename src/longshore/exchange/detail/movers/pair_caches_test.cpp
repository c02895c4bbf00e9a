// Tests that two ranks of a node get the same answer, and the given one.
#include <longshore/exchange/detail/movers/pair_caches.hpp>

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace longshore::detail {
namespace {

using testing::spmd;

constexpr std::size_t measurements = 4;

TEST(PairCaches, both_ranks_get_the_same_answer) {
  spmd([](team& team) {
    std::vector<int> peers;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank() && team.nodes().is_local(rank)) peers.push_back(rank);
    neighbour_handshake handshake(team, peers);
    std::vector<std::size_t> all(peers.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    // Lines for all ranks and measurements, in the memory of each rank.
    const auto lines = measurements * static_cast<std::size_t>(team.size());
    const shareable_memory memory(team, lines * sizeof(direct_signals));
    const shareable_memory messages(team, measuring_memory::bytes);
    auto* const mine = reinterpret_cast<direct_signals*>(memory.data());
    for (std::size_t i = 0; i < lines; ++i) new (mine + i) direct_signals{};
    handshake_writer handle;
    handle.add(memory.handle());
    handle.add(messages.handle());
    const auto handles = handshake.exchange_with(all, std::vector(peers.size(), handle.take()));
    std::vector<std::vector<std::byte>> answers;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      const bool is_lower = team.rank() < peers[i];
      handshake_reader reader(handles[i]);
      auto& mappings = node_access::of(team).mappings();
      const auto their_signals = mappings.map(reader.take<shared_memory_handle>());
      const auto their_messages = reader.take<shared_memory_handle>();
      const auto line = [](const std::byte* signals, int rank, std::size_t k) -> direct_signals& {
        return reinterpret_cast<direct_signals*>(
            const_cast<std::byte*>(signals))[measurements * static_cast<std::size_t>(rank) + k];
      };
      handshake_writer answer;
      const auto measure = [&](std::size_t k, std::optional<bool> given,
                               std::optional<pair_caches> known) {
        const auto found = measure_caches(
            team, peers[i],
            {line(memory.data(), peers[i], k), line(their_signals.data, team.rank(), k), messages,
             their_messages, mappings},
            given, known);
        answer.add(found);
        return found;
      };
      // Only the lower rank needs the given answer.
      (void)measure(0, std::nullopt, std::nullopt);
      EXPECT_EQ(measure(1, is_lower ? std::optional(true) : std::nullopt, std::nullopt),
                pair_caches::assumed_far());
      EXPECT_EQ(measure(2, is_lower ? std::optional(false) : std::nullopt, std::nullopt),
                pair_caches{});
      // What either rank knows takes the place of a measurement of messages.
      const pair_caches known{true, 5, 10};
      const auto found = measure(3, std::nullopt, is_lower ? std::nullopt : std::optional(known));
      EXPECT_EQ(found, found.are_far ? known : pair_caches{});
      answers.push_back(answer.take());
    }
    EXPECT_EQ(handshake.exchange_with(all, answers), answers);
    team.barrier();
  });
}

TEST(PairCaches, a_message_follows_the_longest_length_of_which_it_has_half) {
  const pair_caches caches{true, 0b001, 0b010};
  EXPECT_TRUE(caches.packs(100) && caches.packs(4096) && caches.packs(8191));
  EXPECT_FALSE(caches.packs(8192) || caches.packs(1 << 24));
  EXPECT_FALSE(caches.streams(100) || caches.streams(4096) || caches.streams(32768));
  EXPECT_TRUE(caches.streams(8192) && caches.streams(32767));
  EXPECT_FALSE(pair_caches::assumed_far().streams(4095));
  EXPECT_FALSE(pair_caches{}.packs(1 << 20) || pair_caches{}.streams(1 << 20));
}

}  // namespace
}  // namespace longshore::detail
