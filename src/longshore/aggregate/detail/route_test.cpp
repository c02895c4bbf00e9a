// Routes without messages: following the tags leads every item of every pair from link to link to
// its destination. Also the predicted costs, which follow from routes.
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/aggregate/engine_cost.hpp>
#include <longshore/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace longshore::detail {
namespace {

struct shape {
  int ranks, per_group;
};
const std::vector<shape> shapes = {{1, 1}, {2, 1},  {3, 2},  {4, 2},   {7, 1},  {7, 2},  {7, 3},
                                   {7, 7}, {12, 5}, {64, 8}, {30, 16}, {65, 4}, {100, 9}};

std::vector<route> routes_of(const rank_groups& groups, int hops, stream_count streams) {
  std::vector<route> routes;
  for (int rank = 0; rank < groups.ranks(); ++rank)
    routes.emplace_back(groups, rank, hops, true, streams);
  return routes;
}

// The rank at which an item from `from` to `to` ends, and the number of hops that the item makes.
std::pair<int, int> follow(const std::vector<route>& routes, int from, int to) {
  const route::step first = routes[from].first_steps()[to];
  int at = from, hops_made = 0;
  std::uint64_t tag = first.tag, link = first.link;
  for (int hop = static_cast<int>(first.hop);; ++hop, ++hops_made) {
    const auto& links = routes[at].links(hop);
    if (link >= links.to.size()) return {-1, hops_made};
    EXPECT_LT(tag, std::uint64_t{1} << links.destination_bits);
    at = links.to[link];
    if (hop + 1 == routes[at].hops()) return {at, hops_made + 1};
    const unsigned link_bits = routes[at].links(hop + 1).link_bits;
    link = tag & ((std::uint64_t{1} << link_bits) - 1);
    tag >>= link_bits;
  }
}

TEST(Route, every_item_reaches_its_destination) {
  for (const auto& [ranks, per_group] : shapes)
    for (int hops = 1; hops <= 3; ++hops)
      for (const auto streams : {stream_count::one, stream_count::many}) {
        const rank_groups groups(ranks, per_group);
        const auto routes = routes_of(groups, hops, streams);
        int max_hops = 0;
        for (int from = 0; from < ranks; ++from)
          for (int to = 0; to < ranks; ++to) {
            const auto [end, hops_made] = follow(routes, from, to);
            ASSERT_EQ(end, to) << ranks << " ranks by " << per_group << ", " << hops
                               << " hops, from " << from;
            max_hops = std::max(max_hops, hops_made);
          }
        EXPECT_LE(max_hops, hops);
        const bool all_hops_are_needed = groups.count() > 1 && groups.smallest() > 1;
        EXPECT_TRUE(max_hops == hops || !all_hops_are_needed);
      }
}

TEST(Route, every_link_exists_at_both_of_its_ends) {
  for (const auto& [ranks, per_group] : shapes)
    for (int hops = 1; hops <= 3; ++hops)
      for (const auto streams : {stream_count::one, stream_count::many}) {
        const rank_groups groups(ranks, per_group);
        const auto routes = routes_of(groups, hops, streams);
        for (int hop = 0; hop < hops; ++hop) {
          std::multiset<std::pair<int, int>> out, in;
          for (int rank = 0; rank < ranks; ++rank) {
            for (const int to : routes[rank].links(hop).to) out.insert({rank, to});
            for (const int from : routes[rank].links(hop).from) in.insert({from, rank});
          }
          EXPECT_EQ(out, in) << ranks << " ranks by " << per_group << ", hop " << hop << " of "
                             << hops;
          EXPECT_EQ(std::set(out.begin(), out.end()).size(), out.size()) << "a link exists twice";
        }
      }
}

TEST(Route, an_aggregator_has_one_stream_per_pair_of_groups) {
  for (const auto& [ranks, per_group] : shapes) {
    const rank_groups groups(ranks, per_group);
    const auto routes = routes_of(groups, 3, stream_count::one);
    std::multiset<std::pair<int, int>> pairs;
    for (int rank = 0; rank < ranks; ++rank) {
      for (const int to : routes[rank].links(1).to)
        pairs.insert({groups.group_of(rank), groups.group_of(to)});
      for (const int hop : {0, 2})
        for (const int to : routes[rank].links(hop).to)
          EXPECT_EQ(groups.group_of(to), groups.group_of(rank));
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(groups.count() * (groups.count() - 1)));
    EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
  }
}

TEST(Route, with_3_hops_and_large_groups_almost_every_rank_owns_a_stream) {
  const rank_groups groups(4 * 36, 36);
  int with_stream = 0;
  for (const auto& route : routes_of(groups, 3, stream_count::many))
    with_stream += !route.links(1).to.empty();
  // In each group of 36 ranks, 9 ranks serve each of the 4 groups. The 9 ranks that would serve
  // their own group have no stream.
  EXPECT_EQ(with_stream, 4 * 27);
}

TEST(Route, tags_are_small_and_bad_arguments_are_refused) {
  const rank_groups groups(9216, 36);
  const route three(groups, 17, 3, false), two(groups, 17, 2, false),
      two_with_source(groups, 17, 2, true);
  EXPECT_EQ(three.links(0).tag_bytes, 2u);
  EXPECT_EQ(three.links(1).tag_bytes, 1u);
  EXPECT_EQ(three.links(2).tag_bytes, 0u);
  EXPECT_EQ(two.links(0).tag_bytes, 1u);
  EXPECT_EQ(two.links(1).tag_bytes, 0u);
  EXPECT_EQ(two_with_source.links(1).tag_bytes, 1u);
  EXPECT_THROW(route(groups, 0, 0, false), error);
  EXPECT_THROW(rank_groups(4, 0), error);
}

TEST(EngineCost, thousands_of_ranks_stay_within_64_MiB) {
  engine_options options{.item_bytes = 16, .buffer_items = 1024, .hops = 3};
  for (const auto kind : {engine_kind::conveyor, engine_kind::aggregator}) {
    const engine_cost cost = predict_engine_cost(kind, options, 9216, 36, 1e7);
    EXPECT_LT(cost.memory_bytes, std::size_t{64} << 20);
    EXPECT_EQ(cost.buffer_items, 1024u);
    ASSERT_EQ(cost.hops.size(), 3u);
    EXPECT_LE(cost.hops[1].links, 8u);  // 256 / 36, rounded up
    EXPECT_EQ(cost.hops[1].offnode_links, cost.hops[1].links);
    EXPECT_EQ(cost.hops[2].links, 36u);
    EXPECT_EQ(cost.hops[2].offnode_links, 0u);
    EXPECT_GT(cost.hops[1].fill, 0.99);
  }
  const engine_cost direct = predict_engine_cost(engine_kind::exstack2, options, 9216, 36, 1e7);
  EXPECT_GT(direct.memory_bytes, std::size_t{500} << 20);
  EXPECT_EQ(direct.hops[0].links, 9216u);
  options.buffer_items = 0;
  for (const auto kind : {engine_kind::exstack, engine_kind::exstack2, engine_kind::conveyor,
                          engine_kind::aggregator}) {
    const engine_cost chosen = predict_engine_cost(kind, options, 9216, 36, 1e7);
    EXPECT_LE(chosen.memory_bytes, std::size_t{64} << 20) << name_of(kind);
    EXPECT_EQ(chosen.buffer_items,
              kind == engine_kind::exstack || kind == engine_kind::exstack2 ? 64u : 1024u)
        << name_of(kind);
  }
  EXPECT_THROW(static_cast<void>(predict_engine_cost(engine_kind::exstack, options, 0, 1, 1)),
               error);
}

}  // namespace
}  // namespace longshore::detail
