// The simulated machine: repeatability, deadlocks, and bad machine files.
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/simulated/detail/event_queue.hpp>
#include <longshore/transport/simulated/detail/test_machine.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {
namespace {

using namespace simulated_tests;

error failure_of(const std::string& text, int ranks, const std::function<void(team&)>& body) {
  try {
    simulate(text, ranks, body);
  } catch (const error& e) {
    return e;
  }
  return error(errc{}, "no error");
}

// The clocks of all ranks after some traffic of every kind.
std::vector<double> clocks(const std::string& text, int ranks) {
  std::vector<double> result(static_cast<std::size_t>(ranks));
  simulate(text, ranks, [&](team& team) {
    const auto counter = team.allocate(64);
    for (int i = 0; i < 5; ++i) {
      (void)counter->fetch_add((team.rank() * 7 + i) % team.size(), 8, 1);
      std::int64_t value = team.rank();
      counter->put_start((team.rank() + i) % team.size(), 16, &value, sizeof value);
      counter->quiet();
      team.charge("pushed_items", 100 * static_cast<std::size_t>(team.rank()));
      std::vector<std::int64_t> out(static_cast<std::size_t>(team.size())), in(out);
      team.alltoall(std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)));
      (void)team.allreduce_value(team.rank(), reduction::sum);
    }
    result[static_cast<std::size_t>(team.rank())] = team.now();
  });
  return result;
}

TEST(Simulated, two_runs_have_the_same_times_bit_for_bit) {
  const std::string dragonfly = crossbar() + R"([topology]
kind = "dragonfly"
hop_us = 0.1
link_GB_per_s = 5.0
nodes_per_router = 2
routers_per_group = 4
global_links = 2
routes = "valiant"
seed = 5
)";
  for (const auto& text : {crossbar(), dragonfly}) {
    const auto first = clocks(text, 40), second = clocks(text, 40);
    EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(double)), 0);
  }
}

TEST(Simulated, a_deadlock_names_the_wait_of_every_rank) {
  const error failure = failure_of(crossbar(), 4, [](team& team) {
    if (team.rank() == 3) {
      team.barrier();
      return;
    }
    const int peer = (team.rank() + 1) % 3;
    for (waiter wait(team, "a letter", peer);; wait.pause()) {
    }
  });
  EXPECT_EQ(failure.code(), errc::timeout);
  const std::string text = failure.what();
  for (const char* part :
       {"rank 0 waits for a letter from rank 1", "rank 1 waits for a letter from rank 2",
        "rank 2 waits for a letter from rank 0", "rank 3 waits for a barrier"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Simulated, the_failure_of_one_rank_ends_the_run) {
  const error failure = failure_of(crossbar(), 5, [](team& team) {
    if (team.rank() == 2) fail(errc::unsupported, "rank 2 cannot");
    team.barrier();
  });
  EXPECT_EQ(failure.code(), errc::unsupported);
}

TEST(Simulated, work_costs_what_the_machine_file_says) {
  simulate(crossbar(), 1, [](team& team) {
    const double start = team.now();
    team.charge("sorted_keys", 1000);
    EXPECT_NEAR(team.now() - start, 20e-6, 1e-9);
    team.charge_copy(team.rank(), 10'000);
    EXPECT_NEAR(team.now() - start, 21e-6, 1e-9);
  });
}

TEST(Simulated, a_store_is_seen_after_the_latency_of_memory_by_polls_and_by_waits) {
  std::string text = crossbar();
  const std::string one = "ranks_per_node = 1";
  text.replace(text.find(one), one.size(), "ranks_per_node = 2");
  for (const bool waits : {false, true}) {
    std::atomic<std::uint64_t> word = 0;
    double stored = 0, seen = 0;
    simulate(text, 2, [&](team& team) {
      team.barrier();
      if (team.rank() == 0) {
        team.charge_seconds(5 * micro);
        stored = team.now();
        team.costs()->store(word, std::uint64_t{1}, 1);
        return;
      }
      for (waiter wait(team, "a store", 0);;) {
        team.costs()->poll();
        if (word.load() == 1) break;
        if (waits) wait.pause();
      }
      seen = team.now();
    });
    constexpr double memory_latency = 0.1 * micro, poll = 0.05 * micro, rounding = 1e-12;
    EXPECT_GE(seen, stored + memory_latency - rounding) << waits;
    EXPECT_LE(seen, stored + memory_latency + poll + rounding) << waits;
  }
}

TEST(Simulated, work_may_cost_more_when_there_is_much_of_it) {
  std::string text = crossbar();
  const std::string one = "sort_ns = 20.0";
  text.replace(text.find(one), one.size(), "sort_ns = [[1000, 10.0], [100000, 20.0]]");
  text += "line_ns = [[4096, 1.0], [8192, 2.0]]\n";
  const std::string copies = "near_copy_GB_per_s = 10.0";
  text.replace(text.find(copies), copies.size(),
               "near_copy_GB_per_s = [[20000, 10.0], [40000, 5.0]]");
  simulate(text, 1, [](team& team) {
    const auto seconds_of = [&](const auto& charge) {
      const double start = team.now();
      charge();
      return team.now() - start;
    };
    EXPECT_NEAR(seconds_of([&] { team.charge("sorted_keys", 1000); }), 10e-6, 1e-9);
    EXPECT_NEAR(seconds_of([&] { team.charge("sorted_keys", 1'000'000); }), 20e-3, 1e-9);
    EXPECT_NEAR(seconds_of([&] { team.charge_copy(0, {0, 1000, 4096}); }), 1e-6, 1e-9);
    EXPECT_NEAR(seconds_of([&] { team.charge_copy(0, {10'000, 1000, 100'000}); }), 4e-6, 1e-9);
    // A copy reads and writes its bytes.
    EXPECT_NEAR(seconds_of([&] { team.charge_copy(team.rank(), 10'000); }), 1e-6, 1e-9);
    EXPECT_NEAR(seconds_of([&] { team.charge_copy(team.rank(), 20'000); }), 4e-6, 1e-9);
  });
}

TEST(Simulated, sizes_may_be_points_of_a_line) {
  std::string text = crossbar();
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("stream_GB_per_s = 10.0",
          "sizes = \"points\"\nstream_GB_per_s = [[1000, 10.0], [3000, 5.0]]");
  replace("near_copy_GB_per_s = 10.0", "near_copy_GB_per_s = [[1000, 10.0], [3000, 5.0]]");
  simulate(text, 1, [](team& team) {
    const auto ns_per_byte = [&](std::string_view kind, std::size_t bytes) {
      const double start = team.now();
      if (kind == "copied_bytes")
        team.charge_copy(team.rank(), bytes);
      else
        team.charge(kind, bytes);
      return 1e9 * (team.now() - start) / static_cast<double>(bytes);
    };
    EXPECT_NEAR(ns_per_byte("streamed_bytes", 500), 0.1, 1e-6);
    EXPECT_NEAR(ns_per_byte("streamed_bytes", 1000), 0.1, 1e-6);
    EXPECT_NEAR(ns_per_byte("streamed_bytes", 1500), 0.125, 1e-6);
    EXPECT_NEAR(ns_per_byte("streamed_bytes", 3000), 0.2, 1e-6);
    EXPECT_NEAR(ns_per_byte("streamed_bytes", 100'000), 0.2, 1e-6);
    EXPECT_NEAR(ns_per_byte("copied_bytes", 750), 0.2, 1e-6);  // the other table has classes
  });
}

TEST(Simulated, costs_that_a_file_leaves_out_are_those_of_similar_work) {
  std::string text = crossbar();
  const auto microseconds = [&](std::string_view kind) {
    double seconds = 0;
    simulate(text, 1, [&](team& team) {
      const double start = team.now();
      team.charge(kind, 1000);
      seconds = team.now() - start;
    });
    return 1e6 * seconds;
  };
  EXPECT_NEAR(microseconds("conveyor_pushes"), 3, 1e-3);
  EXPECT_NEAR(microseconds("replies"), 3, 1e-3);  // at one end
  EXPECT_NEAR(microseconds("table_updates"), 5, 1e-3);
  EXPECT_NEAR(microseconds("agp_accesses"), 5, 1e-3);
  EXPECT_NEAR(microseconds("stream_copies"), 0.1, 1e-3);
  text +=
      "conveyor_push_ns = 4.0\nconveyor_reply_ns = 2.0\nreply_ns = 1.0\ntable_update_ns = 9.0\n"
      "agp_access_ns = 6.0\nstream_copy_GB_per_s = 5.0\n";
  EXPECT_NEAR(microseconds("conveyor_pushes"), 4, 1e-3);
  EXPECT_NEAR(microseconds("conveyor_replies"), 1, 1e-3);
  EXPECT_NEAR(microseconds("replies"), 0.5, 1e-3);
  EXPECT_NEAR(microseconds("table_updates"), 9, 1e-3);
  EXPECT_NEAR(microseconds("agp_accesses"), 6, 1e-3);
  EXPECT_NEAR(microseconds("stream_copies"), 0.2, 1e-3);
}

TEST(Simulated, copies_of_own_memory_may_be_faster) {
  std::string text = crossbar();
  text.replace(text.find("near_copy"), 0, "own_copy_GB_per_s = 20.0\n");
  text.replace(text.find("ranks_per_node = 1"), 18, "ranks_per_node = 2");
  simulate(text, 4, [](team& team) {
    const double start = team.now();
    team.charge_copy(team.rank(), 10'000);
    EXPECT_NEAR(team.now() - start, 0.5e-6, 1e-9);
    const bool is_first = team.rank() % 2 == 0;
    team.charge_copy(is_first ? team.rank() + 1 : team.rank() - 1, 10'000);
    EXPECT_NEAR(team.now() - start, 1.5e-6, 1e-9);
    team.charge_copy((team.rank() + 2) % 4, 10'000);  // from a slot of a message between nodes
    EXPECT_NEAR(team.now() - start, 2e-6, 1e-9);
  });
}

std::string with_two_ranks_per_node(std::string text) {
  return text.replace(text.find("ranks_per_node = 1"), 18, "ranks_per_node = 2");
}

TEST(Simulated, ranks_take_the_memory_of_their_node_in_the_order_of_time) {
  std::string text = with_two_ranks_per_node(crossbar());
  const std::string rate = "node_copy_GB_per_s = 100.0";
  text.replace(text.find(rate), rate.size(), "node_copy_GB_per_s = 10.0");
  constexpr std::size_t bytes = 100'000;  // 10 us for one rank, and for all of them together
  for (const int late_rank : {0, 1}) {
    double early = 0, late = 0;
    std::vector<double> together(2);
    simulate(text, 2, [&](team& team) {
      const auto seconds_of_copy = [&] {
        const double start = team.now();
        team.charge_copy(team.rank(), bytes);
        return team.now() - start;
      };
      team.barrier();
      if (team.rank() == late_rank) team.charge_seconds(50 * micro);
      (team.rank() == late_rank ? late : early) = seconds_of_copy();
      team.barrier();
      together[static_cast<std::size_t>(team.rank())] = seconds_of_copy();
    });
    EXPECT_NEAR(early, 10 * micro, 1e-9) << late_rank;
    EXPECT_NEAR(late, 10 * micro, 1e-9) << late_rank;
    EXPECT_NEAR(together[0] + together[1], 30 * micro, 0.5 * micro) << late_rank;
  }
}

TEST(Simulated, ranks_take_the_card_of_their_node_in_the_order_of_time) {
  std::string text = with_two_ranks_per_node(crossbar());
  text.replace(text.find("gap_us"), 0, "overhead_ns_per_byte = 0.3\n");
  constexpr std::size_t bytes = 100'000;
  for (const int large_rank : {0, 1}) {
    double seconds = 0;
    simulate(text, 4, [&](team& team) {
      const auto memory = team.allocate(bytes);
      const std::vector<std::byte> data(bytes);
      team.barrier();
      if (team.rank() < 2) {
        const bool is_large = team.rank() == large_rank;
        const double start = team.now();
        memory->put_start(team.rank() + 2, 0, data.data(), is_large ? bytes : 8);
        memory->quiet();
        if (!is_large) seconds = team.now() - start;
      }
      team.barrier();
    });
    // The card is free until the other rank has spent 30 us on its bytes.
    EXPECT_NEAR(seconds, overhead + 2 * latency, 0.01 * micro) << large_rank;
  }
}

TEST(Simulated, ranks_on_one_core_share_its_caches) {
  std::string text = with_two_ranks_per_node(crossbar()) + "line_ns = [[8191, 1.0], [8192, 2.0]]\n";
  text.replace(text.find("ranks_per_node"), 0, "cores = 1\n");
  for (const int ranks : {1, 2}) {
    std::vector<double> microseconds(2);
    simulate(text, ranks, [&](team& team) {
      team.charge_seconds(1e-3 * (1 + team.rank()));  // the other rank has left the core
      const double start = team.now();
      team.charge_copy(team.rank(), {0, 1000, 4096});
      microseconds[static_cast<std::size_t>(team.rank())] = 1e6 * (team.now() - start);
    });
    EXPECT_NEAR(microseconds[0], ranks, 1e-3);
  }
}

TEST(Simulated, an_atomic_update_on_one_node_takes_its_time_alone) {
  simulate(with_two_ranks_per_node(crossbar()), 2, [](team& team) {
    const auto counter = team.allocate(8);
    team.barrier();
    if (team.rank() == 1) return;
    const double start = team.now();
    EXPECT_EQ(counter->fetch_add(1, 0, 5), 0);
    EXPECT_NEAR(team.now() - start, 0.02 * micro, 1e-9);
    EXPECT_EQ(counter->fetch_add(1, 0, 5), 5);
  });
}

TEST(Simulated, ranks_that_share_cores_take_turns) {
  std::string text = crossbar();
  const std::string one = "ranks_per_node = 1";
  text.replace(text.find(one), one.size(), "ranks_per_node = 4\ncores = 2");
  std::vector<double> microseconds(4);
  simulate(text, 4, [&](team& team) {
    constexpr double start = 1e-3;
    team.charge_seconds(start - team.now());  // all begin together
    team.charge("sorted_keys", 400);          // 8 us
    team.charge("sorted_keys", 600);          // 12 us, on the same core
    microseconds[static_cast<std::size_t>(team.rank())] = 1e6 * (team.now() - start);
  });
  std::sort(microseconds.begin(), microseconds.end());
  EXPECT_NEAR(microseconds[1], 20, 0.1);
  EXPECT_NEAR(microseconds[2], 40, 0.1);
}

// Rank 0 waits once, for a store that comes 50 us after the barrier.
TEST(Simulated, a_rank_that_waits_gets_its_shared_core_back_by_a_switch) {
  const auto seconds_of_wait = [](const std::string& keys) {
    std::string text = with_two_ranks_per_node(crossbar());
    text.replace(text.find("ranks_per_node"), 0, keys);
    std::atomic<std::uint64_t> word = 0;
    double stored = 0, seen = 0;
    simulate(text, 2, [&](team& team) {
      team.barrier();
      if (team.rank() == 1) {
        team.charge_seconds(50 * micro);
        stored = team.now();
        team.costs()->store(word, std::uint64_t{1}, 0);
        return;
      }
      for (waiter wait(team, "a store", 1);; wait.pause()) {
        team.costs()->poll();
        if (word.load() == 1) break;
      }
      seen = team.now();
    });
    return seen - stored;
  };
  const double alone = seconds_of_wait("switch_ns = 700.0\n"),
               without = seconds_of_wait("cores = 1\n"),
               with = seconds_of_wait("cores = 1\nswitch_ns = 700.0\n");
  EXPECT_EQ(alone, without);
  EXPECT_NEAR(with - without, 0.7 * micro, 1e-9);
}

std::string two_ranks_per_node() {
  std::string text = crossbar();
  return text.replace(text.find("ranks_per_node = 1"), 18, "ranks_per_node = 2");
}

// Rank 0 sends to rank 1 of its node and to rank 2 of the next.
TEST(Simulated, slots_have_memory_only_while_a_message_is_in_them) {
  simulate(two_ranks_per_node(), 3, [](team& team) {
    constexpr int slots = 1 << 14;
    const auto slot_bytes_to = [](int rank) { return static_cast<std::size_t>(rank) << 26; };
    const auto bytes_to = [](int rank) { return static_cast<std::size_t>(rank) * 100; };
    std::vector<channel_end> to, from;
    if (team.rank() == 0)
      to = {{1, slot_bytes_to(1)}, {2, slot_bytes_to(2)}};  // 1 and 2 TiB
    else
      from = {{0, slot_bytes_to(team.rank())}};
    const auto channels = team.open_channels(to, from, slots);
    const std::byte* first = nullptr;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        std::byte* const slot = channels->sender(i).reserve();
        ASSERT_NE(slot, nullptr);
        ASSERT_EQ(channels->sender(i).reserve(), slot);
        std::memset(slot, round + static_cast<int>(i), bytes_to(to[i].peer));
        channels->sender(i).commit(bytes_to(to[i].peer));
      }
      if (!from.empty()) {
        auto& receiver = channels->receiver(0);
        std::optional<std::span<const std::byte>> message;
        for (waiter wait(team, "a message", 0); !(message = receiver.front()); wait.pause()) {
        }
        ASSERT_EQ(message->size(), bytes_to(team.rank()));
        EXPECT_EQ(message->back(), static_cast<std::byte>(round + team.rank() - 1));
        EXPECT_TRUE(round == 0 || message->data() == first) << "not used again";
        first = message->data();
        receiver.release();
      }
      team.barrier();
    }
  });
}

TEST(Simulated, a_sent_message_has_memory_of_its_size) {
  simulate(two_ranks_per_node(), 3, [](team& team) {
    constexpr std::size_t slot_bytes = 1 << 20, sent_bytes = 100;
    std::vector<channel_end> to, from;
    if (team.rank() == 0)
      to = {{1, slot_bytes}, {2, slot_bytes}};
    else
      from = {{0, slot_bytes}};
    const auto channels = team.open_channels(to, from, 4);
    for (std::size_t i = 0; i < to.size(); ++i)
      for (int k = 0; k < 2; ++k) {
        std::byte* const slot = channels->sender(i).reserve();
        ASSERT_NE(slot, nullptr);
        std::memset(slot, k + 1, sent_bytes);
        channels->sender(i).commit(sent_bytes);
      }
    team.barrier();
    if (!from.empty()) {
      auto& receiver = channels->receiver(0);
      const std::byte* begins[2] = {};
      for (int k = 0; k < 2; ++k) {
        std::optional<std::span<const std::byte>> message;
        for (waiter wait(team, "a message", 0); !(message = receiver.front()); wait.pause()) {
        }
        ASSERT_EQ(message->size(), sent_bytes);
        EXPECT_EQ(message->front(), static_cast<std::byte>(k + 1));
        EXPECT_EQ(message->back(), static_cast<std::byte>(k + 1));
        begins[k] = message->data();
        receiver.release();
      }
      const auto [low, high] = std::minmax(begins[0], begins[1], std::less<>());
      EXPECT_LT(static_cast<std::size_t>(high - low), slot_bytes) << "two slots are further apart";
    }
    team.barrier();
  });
}

TEST(Simulated, channels_are_refused_if_a_message_in_each_does_not_fit_into_memory) {
  simulate(two_ranks_per_node(), 3, [](team& team) {
    std::vector<channel_end> to, from;
    if (team.rank() == 0)
      to = {{1, std::size_t{1} << 46}};
    else if (team.rank() == 1)
      from = {{0, std::size_t{1} << 46}};
    try {
      const auto channels = team.open_channels(to, from, 1);
      ADD_FAILURE() << "no error on rank " << team.rank();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::out_of_memory) << e.what();
      EXPECT_NE(std::string(e.what()).find("use fewer ranks"), std::string::npos) << e.what();
    }
  });
}

TEST(Simulated, a_receiver_is_quiet_until_a_message_may_have_arrived) {
  simulate(two_ranks_per_node(), 3, [](team& team) {
    std::vector<channel_end> to, from;
    if (team.rank() == 0)
      to = {{1, 64}, {2, 64}};
    else
      from = {{0, 64}};
    const auto channels = team.open_channels(to, from, 4);
    ASSERT_NE(channels->quiet(), nullptr);
    const auto is_quiet = [&] { return channels->quiet()->poll(0, 1) == 1; };
    for (int i = 0; i < 10; ++i) {
      if (!from.empty()) {
        EXPECT_FALSE(channels->receiver(0).front());
        EXPECT_TRUE(is_quiet());
      }
      team.barrier();
      for (std::size_t k = 0; k < to.size(); ++k) {
        ASSERT_NE(channels->sender(k).reserve(), nullptr);
        channels->sender(k).commit(8);
      }
      if (!from.empty()) {
        for (waiter wait(team, "a message", 0); is_quiet(); wait.pause()) {
        }
        EXPECT_TRUE(channels->receiver(0).front());
        EXPECT_FALSE(is_quiet());
        channels->receiver(0).release();
      }
      team.barrier();
    }
  });
}

TEST(Simulated, events_come_in_the_order_of_time_and_of_scheduling) {
  simulated::event_queue queue;
  std::vector<simulated::event> waiting;
  const auto is_before = [](const auto& a, const auto& b) { return a.is_before(b); };
  constexpr std::uint64_t events = 3000;
  for (std::uint64_t number = 0; number < events || !queue.empty(); ++number) {
    if (number < events) {
      waiting.push_back({static_cast<double>(mix_bits(number) % 50), number, 0, 0});
      queue.push(waiting.back());
      if (number % 3 != 0) continue;
    }
    const auto first = std::min_element(waiting.begin(), waiting.end(), is_before);
    ASSERT_EQ(queue.top().number, first->number);
    waiting.erase(first);
    queue.pop();
  }
  EXPECT_TRUE(waiting.empty());
}

void expect_refused(const std::string& text, int ranks, std::initializer_list<const char*> parts) {
  const error failure = failure_of(text, ranks, [](team&) {});
  EXPECT_EQ(failure.code(), errc::usage);
  for (const char* part : parts)
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
}

TEST(MachineFile, errors_name_line_and_remedy) {
  expect_refused("[machine\n", 1, {".toml:1:"});
  expect_refused("", 1, {".toml:1:", "[machine] is missing"});
  expect_refused(std::string(machine_table) + memory_table + cost_table, 1,
                 {"[network] is missing"});
  expect_refused(crossbar() + "[engine]\n", 1, {":26:", "unknown table [engine]"});
  expect_refused(
      std::string(machine_table) + "color = 3\n" + network_table + memory_table + cost_table, 1,
      {":6:", "unknown key machine.color"});
  std::string text = crossbar();
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  expect_refused(replaced("gap_us = 0.1\n", ""), 1, {":6:", "network.gap_us is missing"});
  expect_refused(replaced("gap_us = 0.1", "gap_us = -1"), 1, {":10:", "network.gap_us"});
  expect_refused(replaced("nodes = 64", "nodes = 0"), 1, {":4:", "machine.nodes"});
  expect_refused(replaced("near_copy_GB_per_s = 10.0", "near_copy_GB_per_s = 0"), 1,
                 {":13:", "must be positive"});
  expect_refused(replaced("sort_ns = 20.0", "sort_ns = [[8, 1.0], [4, 2.0]]"), 1,
                 {":24:", "sizes must ascend"});
  expect_refused(replaced("sort_ns = 20.0", "sort_ns = [8, 1.0]"), 1, {"[largest size, ns]"});
  expect_refused(replaced("sort_ns = 20.0", "sizes = \"lines\"\nsort_ns = 20.0"), 1,
                 {":24:", "cost.sizes = 'lines': must be one of limits, points"});
  expect_refused(replaced("nodes = 64", "nodes = 64\nswitch_ns = -1"), 1,
                 {":5:", "machine.switch_ns: must be a number that is not below 0"});
  expect_refused(crossbar() + "[topology]\nkind = \"ring\"\n", 1, {":27:", "dragonfly"});
}

TEST(MachineFile, ranks_beyond_the_machine_are_refused) {
  expect_refused(crossbar(), 65, {"65 ranks", "64 nodes of 1 ranks"});
}

TEST(MachineFile, a_run_without_a_file_says_how_to_name_one) {
  unsetenv("LONGSHORE_MACHINE");
  run_options options;
  options.transport = "simulated";
  try {
    runtime(options).run([](team&) {});
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("--machine"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace longshore
