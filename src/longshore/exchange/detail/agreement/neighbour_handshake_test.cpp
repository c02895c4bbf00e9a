// Tests that handshake messages of any length arrive complete and in order, and that neighbours on
// the node can map memory by its handle.
#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace longshore::detail {
namespace {

using testing::spmd;

// Between all ranks of the node.
class handshake_on_node {
 public:
  explicit handshake_on_node(team& team) : peers_(peers_of(team)), handshake_(team, peers_) {}
  [[nodiscard]] std::span<const int> peers() const { return peers_; }
  [[nodiscard]] std::vector<std::vector<std::byte>> exchange(
      const std::vector<std::vector<std::byte>>& messages) {
    std::vector<std::size_t> all(peers_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return handshake_.exchange_with(all, messages);
  }

 private:
  static std::vector<int> peers_of(const team& team) {
    std::vector<int> peers;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank() && team.nodes().is_local(rank)) peers.push_back(rank);
    return peers;
  }
  std::vector<int> peers_;
  neighbour_handshake handshake_;
};

TEST(NeighbourHandshake, messages_of_any_length_arrive_in_order) {
  spmd([](team& team) {
    handshake_on_node handshake(team);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{2048},
                                    std::size_t{5000}, std::size_t{4096}}) {
      std::vector<std::vector<std::byte>> messages;
      for (const int peer : handshake.peers())
        messages.emplace_back(bytes + static_cast<std::size_t>(team.rank()),
                              static_cast<std::byte>(10 * team.rank() + peer));
      const auto received = handshake.exchange(messages);
      ASSERT_EQ(received.size(), handshake.peers().size());
      for (std::size_t i = 0; i < received.size(); ++i) {
        const int peer = handshake.peers()[i];
        EXPECT_TRUE(team.nodes().is_local(peer) && peer != team.rank());
        EXPECT_EQ(received[i],
                  std::vector<std::byte>(bytes + static_cast<std::size_t>(peer),
                                         static_cast<std::byte>(10 * peer + team.rank())));
      }
    }
  });
}

TEST(NeighbourHandshake, a_handle_maps_the_memory_of_its_owner) {
  spmd([](team& team) {
    handshake_on_node handshake(team);
    shareable_memory memory(team, 10000);
    std::memset(memory.data(), 1 + team.rank(), 10000);
    std::vector<std::byte> handle(sizeof(shared_memory_handle));
    std::memcpy(handle.data(), &memory.handle(), sizeof(shared_memory_handle));
    const auto received = handshake.exchange(std::vector(handshake.peers().size(), handle));
    for (std::size_t i = 0; i < received.size(); ++i) {
      shared_memory_handle peer_handle;
      std::memcpy(&peer_handle, received[i].data(), sizeof(peer_handle));
      const auto mapping = node_access::of(team).mappings().map(peer_handle);
      ASSERT_NE(mapping.data, nullptr);
      EXPECT_EQ(mapping.data[9999], static_cast<std::byte>(1 + handshake.peers()[i]));
      EXPECT_EQ(node_access::of(team).mappings().map(peer_handle).data,
                mapping.data);  // mapped once
    }
    team.barrier();
  });
}

TEST(NeighbourHandshake, a_wrong_handle_is_not_mapped) {
  spmd([](team& team) {
    if (team.is_one_process() || team.nodes().ranks_on_my_node() == 1) return;
    const shareable_memory memory(team, 10000);
    EXPECT_NE(mapped_memory(memory.handle()).data(), nullptr);
    shared_memory_handle wrong = memory.handle();
    // A container may have another file with the same process and file numbers.
    wrong.inode += 1;
    EXPECT_EQ(mapped_memory(wrong).data(), nullptr);
    wrong = memory.handle();
    wrong.file = 9999;
    EXPECT_EQ(mapped_memory(wrong).data(), nullptr);
  });
}

}  // namespace
}  // namespace longshore::detail
