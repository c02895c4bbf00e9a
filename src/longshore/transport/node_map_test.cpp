// Which ranks share a node, also with virtual nodes, and how ranks of a host share its CPUs.
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/node_map.hpp>
#include <longshore/transport/stream_ends.hpp>

#include <gtest/gtest.h>

#include <set>

namespace longshore {
namespace {

TEST(NodeMap, maps_ranks_that_alternate_between_hosts) {
  const std::vector<int> hosts = {0, 1, 2, 0, 1, 2, 0};
  const node_map nodes(hosts, 4, 0);
  EXPECT_EQ(nodes.node_count(), 3);
  EXPECT_EQ(nodes.my_node(), 1);
  EXPECT_EQ(std::vector<int>(nodes.my_ranks().begin(), nodes.my_ranks().end()),
            (std::vector<int>{1, 4}));
  EXPECT_EQ(nodes.local_index(6), 2);
  EXPECT_EQ(nodes.largest_node(), 3);
  EXPECT_EQ(nodes.ranks_on_host(), 2);
  EXPECT_TRUE(nodes.is_local(1));
  EXPECT_FALSE(nodes.is_local(0));
  EXPECT_FALSE(nodes.is_virtual());
}

TEST(NodeMap, of_another_rank_shares_the_memory_of_the_first) {
  const std::vector<int> hosts = {0, 1, 1, 0, 1};
  const node_map first(hosts, 0, 0);
  for (int rank = 0; rank < 5; ++rank) {
    const node_map own(hosts, rank, 0), shared(first, rank);
    EXPECT_EQ(shared.my_node(), own.my_node());
    EXPECT_EQ(shared.ranks_on_host(), own.ranks_on_host());
    EXPECT_EQ(shared.my_leader(), own.my_leader());
    EXPECT_EQ(shared.is_on_host(4), own.is_on_host(4));
    EXPECT_EQ(std::vector<int>(shared.my_ranks().begin(), shared.my_ranks().end()),
              std::vector<int>(own.my_ranks().begin(), own.my_ranks().end()));
    EXPECT_EQ(shared.ranks_of(1).data(), first.ranks_of(1).data());
  }
  EXPECT_EQ(std::vector<int>(first.ranks_of(1).begin(), first.ranks_of(1).end()),
            (std::vector<int>{1, 2, 4}));
}

TEST(NodeMap, cuts_each_host_into_virtual_nodes_of_which_the_last_may_be_smaller) {
  const std::vector<int> hosts = {5, 5, 5, 9, 9, 9, 9};
  const node_map nodes(hosts, 2, 2);
  EXPECT_EQ(nodes.node_count(), 4);
  const std::vector<int> expected = {0, 0, 1, 2, 2, 3, 3};
  for (int rank = 0; rank < 7; ++rank) EXPECT_EQ(nodes.node_of(rank), expected[rank]) << rank;
  EXPECT_EQ(nodes.ranks_on_my_node(), 1);
  EXPECT_EQ(nodes.ranks_on_host(), 3) << "ranks of the other host do not count";
  EXPECT_EQ(std::vector<int>(nodes.leaders().begin(), nodes.leaders().end()),
            (std::vector<int>{0, 2, 3, 5}));
  EXPECT_TRUE(nodes.is_virtual());
}

TEST(NodeMap, virtual_nodes_as_large_as_the_host_are_not_virtual) {
  const std::vector<int> hosts(4, 0);
  const node_map nodes(hosts, 3, 4);
  EXPECT_EQ(nodes.node_count(), 1);
  EXPECT_FALSE(nodes.is_virtual());
}

TEST(NodeMap, counts_the_ranks_on_other_hosts) {
  const std::vector<int> one_host(5, 0), uneven{0, 0, 0, 1, 1, 2};
  EXPECT_EQ(node_map(one_host, 0, 2).most_ranks_off_host(), 0) << "virtual nodes share the host";
  EXPECT_EQ(node_map(uneven, 0, 0).most_ranks_off_host(), 5) << "of rank 5";
}

TEST(StreamEnds, slots_between_hosts_share_a_number_of_bytes) {
  constexpr std::size_t bytes = std::size_t{2} << 20;
  EXPECT_EQ(slots_between_hosts(bytes / 10, 1, 2), 10);
  EXPECT_EQ(slots_between_hosts(bytes / 10, 2, 2), 5);
  EXPECT_EQ(slots_between_hosts(bytes / 10, 10, 2), 2) << "never fewer than min_slots";
  EXPECT_EQ(slots_between_hosts(16, 1, 2), 64) << "never more than 64";
  EXPECT_EQ(slots_between_hosts(16, 0, 100), 100);
  EXPECT_EQ(slots_between_hosts(1000, 1, 2, 9000), 9);
}

TEST(StreamEnds, only_peers_on_other_hosts_get_more_slots) {
  const std::vector<int> hosts{0, 0, 1}, peers{0, 1, 2};
  const auto ends = stream_ends(node_map(hosts, 0, 1), peers, 32, 2, 7);
  ASSERT_EQ(ends.size(), 3u);
  for (int peer = 0; peer < 3; ++peer) {
    EXPECT_EQ(ends[peer].peer, peer);
    EXPECT_EQ(ends[peer].slot_bytes, 32u);
    EXPECT_EQ(ends[peer].slots, peer == 2 ? 7 : 2);
  }
}

TEST(CpuShare, shares_cover_all_cpus_and_do_not_overlap) {
  const std::vector<int> cpus = {0, 2, 4, 6, 8, 10, 12};
  for (int ranks = 1; ranks <= 7; ++ranks) {
    std::multiset<int> seen;
    for (int i = 0; i < ranks; ++i)
      for (int cpu : detail::cpu_share(cpus, i, ranks)) seen.insert(cpu);
    EXPECT_EQ(seen, std::multiset<int>(cpus.begin(), cpus.end())) << ranks;
  }
  EXPECT_EQ(detail::cpu_share(cpus, 8, 20), std::vector<int>{2});
}

TEST(CpuShare, compact_ranks_use_neighbouring_cores_and_second_hardware_threads_last) {
  // Two sockets with two cores each, and two hardware threads per core, in the usual numbering of
  // Linux: CPUs c and c + 4 share a core.
  const std::vector<topology::labelled_level> levels{{"socket", {0, 0, 0, 0, 1, 1, 1, 1}},
                                                     {"core", {0, 0, 1, 1, 2, 2, 3, 3}}};
  const topology host({0, 4, 2, 6, 1, 5, 3, 7}, levels);
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7}, some{1, 2, 3, 6};
  EXPECT_EQ(detail::core_order(all, host), (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(detail::core_order(some, host), (std::vector<int>{2, 1, 3, 6}));
  EXPECT_EQ(detail::core_order(std::vector<int>{2, 99}, host), (std::vector<int>{2, 99}))
      << "CPU 99 is not in the topology";
  std::set<int> taken;
  const auto mine = allowed_cpus();
  for (int rank = 0; rank + 1 < static_cast<int>(mine.size()); ++rank) {
    const auto share = detail::compact_share(mine, rank, static_cast<int>(mine.size()) - 1);
    ASSERT_EQ(share.size(), 1u);
    EXPECT_TRUE(taken.insert(share.front()).second) << "two ranks on CPU " << share.front();
  }
}

}  // namespace
}  // namespace longshore
