// Compares the sort over all ranks, with every exchange, with std::sort of all keys, and checks its
// traffic and errors.
#include <longshore/sort/bucket_sort.hpp>
#include <longshore/sort/key_sets_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

namespace longshore {
namespace {

using testing::all_sorted;
using testing::key_sets;
using testing::named_keys;
using testing::random_keys;
using testing::sorted_sets;
using testing::spmd;

std::vector<bucket_options> usable_options(const team& team) {
  std::vector<bucket_options> usable;
  for (const auto exchange : values_of<exchange_strategy>())
    for (const auto order : values_of<exchange_order>())
      if (!why_not(exchange, order, exchange_layout_of(team)))
        usable.push_back({.exchange = exchange, .order = order});
  return usable;
}

constexpr std::uint64_t max_key = 1000;

template <class Key>
void check(team& team, bucket_sorter<Key>& sorter, const named_keys<Key>& keys,
           const char* exchange, const std::vector<Key>& expected) {
  const auto unsorted = keys.of(team.rank(), team.size());
  const auto sorted = sorter.sort(unsorted);
  std::size_t first = 0;
  const auto counts = team.allgather_value(sorted.size());
  for (int rank = 0; rank < team.rank(); ++rank) first += counts[rank];
  ASSERT_LE(first + sorted.size(), expected.size()) << exchange << ", " << keys.name;
  ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(),
                         expected.begin() + static_cast<std::ptrdiff_t>(first)))
      << exchange << ", " << keys.name;
  ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), expected.size());
  const auto faults = check_sorted(team, checksum_of<Key>(unsorted), sorted);
  EXPECT_TRUE(faults.none()) << faults.text;
  EXPECT_EQ(sorter.moved().payload_bytes, unsorted.size() * sizeof(Key));
}

template <class Key>
void check(team& team, bucket_sorter<Key>& sorter, const named_keys<Key>& keys,
           const char* exchange) {
  check(team, sorter, keys, exchange, all_sorted(keys, team.size()));
}

TEST(BucketSort, sorts_with_every_exchange_in_every_order) {
  sorted_sets<std::int32_t> expected;
  spmd([&](team& team) {
    const auto check_set = [&](auto& sorter, const auto& keys, const std::string& name) {
      check(team, sorter, keys, name.c_str(), expected.of(keys, team.size()));
    };
    const auto options = usable_options(team);
    // put, put-scan, sendrecv, channel and rma (on mpi) have all orders; alltoallv, direct, auto
    // and two-hop (on nodes of several ranks) have one.
    const auto layout = exchange_layout_of(team);
    EXPECT_EQ(options.size(), (layout.mpi ? 5u : 4u) * (layout.nodes > 1 ? 6u : 5u) + 3u +
                                  (layout.nodes > 1 && layout.largest_node > 1 ? 1u : 0u));
    bool max_key_given = false;
    for (auto option : options) {
      max_key_given = !max_key_given;
      option.max_key = max_key_given ? 100 : 0;
      const std::string name =
          std::string(name_of(option.exchange)) + " " + std::string(name_of(option.order));
      bucket_sorter<std::int32_t> sorter(team, option);
      const auto sets = key_sets<std::int32_t>();
      // For the other orders one set of keys is enough to show that every target is served.
      if (option.order != exchange_order::round_robin) {
        check_set(sorter, sets[4], name);
        continue;
      }
      for (const auto& keys : sets) check_set(sorter, keys, name);
      EXPECT_NE(sorter.strategy(), exchange_strategy::automatic);
      check_set(sorter, sets.front(), name);  // now all buffers are large enough
    }
  });
}

TEST(BucketSort, sorts_more_keys_than_fit_into_the_cache) {
  spmd([](team& team) {
    const named_keys<std::uint32_t> many{
        "many", [](int rank, int) { return random_keys<std::uint32_t>(rank, 60'000, 1u << 28); }};
    const auto expected = all_sorted(many, team.size());
    for (const auto& option : usable_options(team)) {
      if (option.order != exchange_order::round_robin) continue;
      bucket_sorter<std::uint32_t> sorter(team, {.exchange = option.exchange, .max_key = 1u << 28});
      check(team, sorter, many, "many", expected);
      const auto& phases = sorter.phases();
      for (const double seconds :
           {phases.count, phases.offsets, phases.bucketize, phases.exchange, phases.local_sort})
        EXPECT_TRUE(seconds > 0 || (seconds == 0 && team.costs() != nullptr));
    }
  });
}

// Each rank has as many keys as it takes to store them by part, or none.
std::vector<named_keys<std::uint32_t>> large_key_sets() {
  constexpr std::size_t many = 66'000;
  return {{"uneven",
           [](int rank, int) {
             return random_keys<std::uint32_t>(rank, many + 999 * static_cast<std::size_t>(rank),
                                               1u << 28);
           }},
          {"a range that no part divides",
           [](int rank, int) { return random_keys<std::uint32_t>(rank, many, 1'000'003); }},
          {"none on the first rank",
           [](int rank, int ranks) {
             return random_keys<std::uint32_t>(rank, rank == 0 && ranks > 1 ? 0 : many, 1u << 20);
           }},
          {"too few on the last rank",
           [](int rank, int ranks) {
             return random_keys<std::uint32_t>(rank, rank == ranks - 1 ? 10 : many, 1u << 20);
           }},
          {"most in one part", [](int rank, int) {
             auto keys = random_keys<std::uint32_t>(rank, rank == 0 ? 300'000 : many, 1u << 20);
             for (std::size_t i = 0; i < keys.size(); ++i)
               if (i % 16 != 0) keys[i] = 77'000 + keys[i] % 256;
             return keys;
           }}};
}

TEST(BucketSort, stores_many_keys_by_part) {
  spmd([](team& team) {
    for (const auto& keys : large_key_sets()) {
      const auto expected = all_sorted(keys, team.size());
      for (const auto& options :
           {bucket_options{.exchange = exchange_strategy::direct},
            bucket_options{.exchange = exchange_strategy::automatic, .max_key = 1u << 28}}) {
        bucket_sorter<std::uint32_t> sorter(team, options);
        check(team, sorter, keys, name_of(options.exchange).data(), expected);
      }
    }
    // Each pair of ranks exchanges three alltoalls, that is a count and two numbers per part, and
    // the offsets of the exchange.
    const auto keys = large_key_sets().front();
    bucket_sorter<std::uint32_t> sorter(
        team, {.exchange = exchange_strategy::direct, .max_key = 1u << 28});
    static_cast<void>(sorter.sort(keys.of(team.rank(), team.size())));
    const auto peers = static_cast<std::uint64_t>(team.size() - 1);
    if (team.nodes().node_count() == 1) {
      EXPECT_EQ(sorter.moved().messages, 4 * peers);
    }
  });
}

// With many keys, exchange direct stores them by part.
void check_refused_keys(team& team, exchange_strategy exchange, std::size_t count) {
  bucket_sorter<std::int32_t> sorter(team, {.exchange = exchange, .max_key = max_key});
  for (const std::int32_t bad : {-1, static_cast<std::int32_t>(max_key)}) {
    auto keys = random_keys<std::int32_t>(team.rank(), count, max_key);
    const bool has_bad_key = team.rank() == team.size() - 1;
    if (has_bad_key) keys[200] = bad;
    try {
      static_cast<void>(sorter.sort(keys));
      ADD_FAILURE();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), has_bad_key ? errc::usage : errc::peer_failed);
      if (has_bad_key) {
        EXPECT_NE(std::string(e.what()).find("key " + std::to_string(bad) + " at position 200"),
                  std::string::npos)
            << e.what();
      }
    }
  }
  const named_keys<std::int32_t> good{
      "good", [](int rank, int) { return random_keys<std::int32_t>(rank, 300, max_key); }};
  check(team, sorter, good, "put");
}

TEST(BucketSort, a_key_out_of_range_is_reported_and_the_sorter_can_be_used_again) {
  spmd([](team& team) {
    check_refused_keys(team, exchange_strategy::put, 300);
    check_refused_keys(team, exchange_strategy::direct, 70'000);
  });
}

TEST(BucketSort, wrong_options_are_refused_on_all_ranks) {
  spmd([](team& team) {
    EXPECT_THROW(bucket_sorter<std::int8_t>(team, {.max_key = 129}), error);
    EXPECT_THROW(bucket_sorter<double>(team, {.max_key = 100}), error);
    EXPECT_THROW(bucket_sorter<int>(team, {.exchange = exchange_strategy::put, .stable = true}),
                 error);
    EXPECT_THROW(bucket_sorter<int>(team, {.exchange = exchange_strategy::alltoallv,
                                           .order = exchange_order::xor_}),
                 error);
  });
}

struct expected_traffic {
  exchange_strategy exchange;
  std::uint64_t messages, bytes;                  // to each other rank of the node
  std::uint64_t offnode_messages, offnode_bytes;  // to each rank of other nodes
};

TEST(BucketSort, counts_its_traffic) {
  spmd([](team& team) {
    // Each rank has one key of every bucket, so it sends a count and one key to every rank.
    std::vector<std::uint32_t> keys;
    for (int rank = 0; rank < team.size(); ++rank) keys.push_back(static_cast<std::uint32_t>(rank));
    const auto node_peers = static_cast<std::uint64_t>(team.nodes().ranks_on_my_node() - 1);
    const auto other_ranks =
        static_cast<std::uint64_t>(team.size() - team.nodes().ranks_on_my_node());
    std::vector<expected_traffic> cases = {
        {exchange_strategy::put, 2, 12, 2, 12},     {exchange_strategy::put_scan, 2, 12, 2, 12},
        {exchange_strategy::direct, 1, 8, 2, 12},   {exchange_strategy::sendrecv, 1, 4, 1, 4},
        {exchange_strategy::alltoallv, 1, 4, 1, 4}, {exchange_strategy::channel, 1, 4, 1, 4}};
    if (team.transport_name() == "mpi") cases.push_back({exchange_strategy::rma, 2, 12, 2, 12});
    for (const auto& expected : cases) {
      bucket_sorter<std::uint32_t> sorter(
          team,
          {.exchange = expected.exchange, .max_key = static_cast<std::uint64_t>(team.size())});
      for (int repetition = 0; repetition < 2; ++repetition) {
        static_cast<void>(sorter.sort(keys));
        EXPECT_EQ(sorter.moved().messages, node_peers * (1 + expected.messages) +
                                               other_ranks * (1 + expected.offnode_messages))
            << name_of(expected.exchange);
        EXPECT_EQ(sorter.moved().wire_bytes,
                  node_peers * (8 + expected.bytes) + other_ranks * (8 + expected.offnode_bytes));
        EXPECT_EQ(sorter.moved().offnode_bytes, other_ranks * (8 + expected.offnode_bytes));
      }
    }
  });
}

TEST(BucketSort, long_blocks_between_nodes_travel_in_few_messages_over_mpi) {
  spmd([](team& team) {
    const auto other_ranks =
        static_cast<std::uint64_t>(team.size() - team.nodes().ranks_on_my_node());
    if (team.transport_name() != "mpi" || other_ranks == 0) return;
    constexpr std::size_t keys_per_bucket = std::size_t{1} << 18;  // 1 MiB
    std::vector<std::uint32_t> keys;
    for (int rank = 0; rank < team.size(); ++rank)
      keys.insert(keys.end(), keys_per_bucket, static_cast<std::uint32_t>(rank));
    for (const auto exchange : {exchange_strategy::sendrecv, exchange_strategy::channel}) {
      bucket_sorter<std::uint32_t> sorter(
          team, {.exchange = exchange, .max_key = static_cast<std::uint64_t>(team.size())});
      const auto sorted = sorter.sort(keys);
      EXPECT_EQ(sorted.size(), keys_per_bucket * static_cast<std::size_t>(team.size()));
      for (const std::uint32_t key : {sorted.front(), sorted.back()})
        EXPECT_EQ(key, static_cast<std::uint32_t>(team.rank()));
      const std::uint64_t pieces_of_channels = 32, most_messages = 25;
      const auto on_node = static_cast<std::uint64_t>(team.nodes().ranks_on_my_node() - 1);
      EXPECT_LE(sorter.moved_in_exchange().messages,
                on_node * pieces_of_channels + other_ranks * most_messages)
          << name_of(exchange);
    }
  });
}

TEST(BucketSort, two_hop_sends_one_message_per_target_of_a_relay) {
  spmd([](team& team) {
    if (why_not(exchange_strategy::two_hop, exchange_order::round_robin, exchange_layout_of(team)))
      return;
    const auto& nodes = team.nodes();
    std::vector<std::uint32_t> keys;
    for (int rank = 0; rank < team.size(); ++rank) keys.push_back(static_cast<std::uint32_t>(rank));
    bucket_sorter<std::uint32_t> sorter(team, {.exchange = exchange_strategy::two_hop,
                                               .max_key = static_cast<std::uint64_t>(team.size())});
    static_cast<void>(sorter.sort(keys));
    std::uint64_t relayed_by_me = 0, relayed_by_others = 0;
    for (int rank = 0; rank < team.size(); ++rank) {
      if (nodes.is_local(rank)) continue;
      const bool is_relay =
          nodes.local_index(rank) % nodes.ranks_on_my_node() == nodes.local_index(team.rank());
      (is_relay ? relayed_by_me : relayed_by_others) += 1;
    }
    // Within the node, each relay that has targets gets a message with counts and one with blocks.
    const auto node_peers = static_cast<std::uint64_t>(nodes.ranks_on_my_node() - 1);
    const auto peers = static_cast<std::uint64_t>(team.size() - 1);
    EXPECT_EQ(sorter.moved().offnode_bytes,
              (peers - node_peers) * 8 +
                  relayed_by_me * 4 * static_cast<std::uint64_t>(nodes.ranks_on_my_node()));
    EXPECT_LE(sorter.moved().messages, peers + 2 * node_peers + relayed_by_me);
    EXPECT_EQ(sorter.moved().wire_bytes,
              peers * 8 + node_peers * 4 + relayed_by_others * (8 + 4) +
                  relayed_by_me * 4 * static_cast<std::uint64_t>(nodes.ranks_on_my_node()));
  });
}

// The blocks of a relay itself leave early, but no message leaves before it is full.
TEST(BucketSort, two_hop_sends_full_messages_while_both_hops_are_under_way) {
  spmd([](team& team) {
    if (why_not(exchange_strategy::two_hop, exchange_order::round_robin, exchange_layout_of(team)))
      return;
    constexpr std::uint64_t keys_per_block = 20'000, block_bytes = keys_per_block * 4;
    const auto messages_for = [](std::uint64_t blocks) {
      constexpr std::uint64_t slot_bytes = 32 << 10;
      return (blocks * block_bytes + slot_bytes - 1) / slot_bytes;
    };
    std::vector<std::uint32_t> keys;
    for (int rank = 0; rank < team.size(); ++rank)
      keys.insert(keys.end(), keys_per_block, static_cast<std::uint32_t>(rank));
    bucket_sorter<std::uint32_t> sorter(team, {.exchange = exchange_strategy::two_hop,
                                               .max_key = static_cast<std::uint64_t>(team.size())});
    const auto& nodes = team.nodes();
    const auto node_ranks = static_cast<std::uint64_t>(nodes.ranks_on_my_node());
    std::vector<std::uint64_t> relayed_by(
        static_cast<std::size_t>(node_ranks));  // indexed by place
    for (int rank = 0; rank < team.size(); ++rank)
      if (!nodes.is_local(rank)) ++relayed_by[nodes.local_index(rank) % nodes.ranks_on_my_node()];
    std::uint64_t messages = static_cast<std::uint64_t>(team.size() - 1);  // with counts
    for (const int rank : nodes.my_ranks()) {
      const std::uint64_t targets = relayed_by[nodes.local_index(rank)];
      messages += rank == team.rank() ? targets * messages_for(node_ranks)
                                      : std::uint64_t{targets > 0} + messages_for(targets + 1);
    }
    for (int repetition = 0; repetition < 3; ++repetition) {
      const auto sorted = sorter.sort(keys);
      EXPECT_EQ(sorter.moved().messages, messages);
      EXPECT_EQ(sorted.size(), keys_per_block * static_cast<std::uint64_t>(team.size()));
      EXPECT_EQ(std::count(sorted.begin(), sorted.end(), static_cast<std::uint32_t>(team.rank())),
                static_cast<std::ptrdiff_t>(sorted.size()));
    }
  });
}

TEST(BucketSort, ranks_that_pass_other_options_or_keys_are_refused_on_all_ranks) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    const int last = team.size() - 1;
    const bool odd = team.rank() == last;
    const auto expect = [&](const std::string& first, const std::string& other, const auto& make) {
      try {
        make();
        ADD_FAILURE() << "no error: " << first;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
        const auto text = fmt::format(
            "rank 0 passes {}, and rank {} passes {}: all ranks must pass", first, last, other);
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
      }
    };
    const auto sorter_of = [&](const bucket_options& options) {
      bucket_sorter<std::uint32_t> sorter(team, options);
    };
    for (const auto exchange : {exchange_strategy::put_scan, exchange_strategy::automatic}) {
      const bucket_options usual{.exchange = exchange, .max_key = 1000};
      auto smaller = usual, stable = usual, other = usual;
      if (odd) {
        smaller.max_key = 500;
        stable.stable = true;
        other.exchange = exchange_strategy::put;
      }
      expect("max_key 1000", "max_key 500", [&] { sorter_of(smaller); });
      expect("stable no", "stable yes", [&] { sorter_of(stable); });
      expect(fmt::format("exchange {}", name_of(exchange)), "exchange put",
             [&] { sorter_of(other); });
      expect("keys uint32", "keys int32", [&] {
        if (odd)
          bucket_sorter<std::int32_t>(team, usual);
        else
          sorter_of(usual);
      });
    }
    // One rank cannot make it. The others get its text, and all can go on.
    try {
      sorter_of({.max_key = odd ? std::uint64_t{1} << 40 : 0});
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), odd ? errc::usage : errc::peer_failed);
      EXPECT_NE(std::string(e.what()).find("above the limit"), std::string::npos) << e.what();
    }
    sorter_of({});
  });
}

TEST(BucketSort, bucket_sort_returns_a_vector_of_its_own) {
  spmd([](team& team) {
    const auto keys = random_keys<std::uint32_t>(team.rank(), 500, max_key);
    const auto part = bucket_sort(team, keys);
    EXPECT_TRUE(check_sorted<std::uint32_t>(team, checksum_of<std::uint32_t>(keys), part).none());
  });
}

}  // namespace
}  // namespace longshore
