#include <longshore/transport/cpu_share.hpp>
#include <longshore/transport/node_map.hpp>

#include <gtest/gtest.h>

#include <set>

namespace longshore {
namespace {

TEST(NodeMap, ranks_dealt_round_robin_to_hosts_are_found_again) {
  const std::vector<int> hosts = {0, 1, 2, 0, 1, 2, 0};
  const node_map nodes(hosts, 4, 0);
  EXPECT_EQ(nodes.node_count(), 3);
  EXPECT_EQ(nodes.my_node(), 1);
  EXPECT_EQ(std::vector<int>(nodes.my_ranks().begin(), nodes.my_ranks().end()), (std::vector<int>{1, 4}));
  EXPECT_EQ(nodes.local_index(6), 2);
  EXPECT_EQ(nodes.largest_node(), 3);
  EXPECT_TRUE(nodes.is_local(1));
  EXPECT_FALSE(nodes.is_local(0));
  EXPECT_FALSE(nodes.is_virtual());
}

TEST(NodeMap, virtual_nodes_cut_each_host_and_the_last_one_may_be_smaller) {
  const std::vector<int> hosts = {5, 5, 5, 9, 9, 9, 9};
  const node_map nodes(hosts, 2, 2);
  EXPECT_EQ(nodes.node_count(), 4);
  const std::vector<int> expected = {0, 0, 1, 2, 2, 3, 3};
  for (int rank = 0; rank < 7; ++rank) EXPECT_EQ(nodes.node_of(rank), expected[rank]) << rank;
  EXPECT_EQ(nodes.my_rank_count(), 1);
  EXPECT_EQ(std::vector<int>(nodes.leaders().begin(), nodes.leaders().end()), (std::vector<int>{0, 2, 3, 5}));
  EXPECT_TRUE(nodes.is_virtual());
}

TEST(NodeMap, virtual_nodes_as_large_as_the_host_are_the_host) {
  const std::vector<int> hosts(4, 0);
  const node_map nodes(hosts, 3, 4);
  EXPECT_EQ(nodes.node_count(), 1);
  EXPECT_FALSE(nodes.is_virtual());
}

TEST(CpuShare, shares_cover_all_cpus_and_do_not_overlap) {
  const std::vector<int> cpus = {0, 2, 4, 6, 8, 10, 12};
  for (int ranks = 1; ranks <= 7; ++ranks) {
    std::multiset<int> seen;
    for (int i = 0; i < ranks; ++i)
      for (int cpu : cpu_share(cpus, i, ranks)) seen.insert(cpu);
    EXPECT_EQ(seen, std::multiset<int>(cpus.begin(), cpus.end())) << ranks;
  }
  EXPECT_EQ(cpu_share(cpus, 8, 20), std::vector<int>{2});
}

}  // namespace
}  // namespace longshore
