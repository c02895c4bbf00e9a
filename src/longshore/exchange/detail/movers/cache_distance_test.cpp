// Tests that two ranks of a node get the same distance of their caches, and the given one.
#include <longshore/exchange/detail/movers/cache_distance.hpp>

#include <longshore/exchange/detail/agreement/neighbour_handshake.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace longshore::detail {
namespace {

using testing::spmd;

TEST(CacheDistance, both_ranks_get_the_same_answer) {
  spmd([](team& team) {
    std::vector<int> peers;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank() && team.nodes().is_local(rank)) peers.push_back(rank);
    neighbour_handshake handshake(team, peers);
    // Lines for all ranks and three measurements, in the memory of each rank.
    const auto lines = 3 * static_cast<std::size_t>(team.size());
    const shareable_memory memory(team, lines * sizeof(direct_signals));
    auto* const mine = reinterpret_cast<direct_signals*>(memory.data());
    for (std::size_t i = 0; i < lines; ++i) new (mine + i) direct_signals{};
    std::vector<std::byte> handle(sizeof(shared_memory_handle));
    std::memcpy(handle.data(), &memory.handle(), sizeof(shared_memory_handle));
    const auto handles = handshake.exchange(std::vector(peers.size(), handle));
    const std::array<std::optional<bool>, 3> given{std::nullopt, true, false};
    std::vector<std::vector<std::byte>> answers;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      shared_memory_handle peer_handle;
      std::memcpy(&peer_handle, handles[i].data(), sizeof peer_handle);
      const auto mapping = node_access::of(team).mappings().map(peer_handle);
      auto* const theirs = reinterpret_cast<direct_signals*>(mapping.data);
      auto& answer = answers.emplace_back();
      for (std::size_t k = 0; k < given.size(); ++k) {
        // Only the lower rank needs the given answer.
        const auto known = team.rank() < peers[i] ? given[k] : std::nullopt;
        const bool is_far =
            are_caches_far(team, peers[i], mine[3 * static_cast<std::size_t>(peers[i]) + k],
                           theirs[3 * static_cast<std::size_t>(team.rank()) + k], known);
        if (given[k]) {
          EXPECT_EQ(is_far, *given[k]);
        }
        answer.push_back(std::byte{is_far});
      }
    }
    EXPECT_EQ(handshake.exchange(answers), answers);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore::detail
