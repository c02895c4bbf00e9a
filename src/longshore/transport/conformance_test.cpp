// The contract of all transports. These tests run on each transport with several numbers of ranks,
// on real and on virtual nodes.
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/exact_sum.hpp>
#include <longshore/transport/spmd_test.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <thread>

namespace longshore {
namespace {

using testing::spmd;

std::byte* wait_reserve(team& team, channel_sender& sender) {
  std::byte* slot = nullptr;
  for (waiter wait(team, "a free slot", sender.peer()); (slot = sender.reserve()) == nullptr;
       wait.pause()) {
  }
  return slot;
}

std::span<const std::byte> wait_front(team& team, channel_receiver& receiver) {
  std::optional<std::span<const std::byte>> message;
  for (waiter wait(team, "a message", receiver.peer()); !(message = receiver.front());
       wait.pause()) {
  }
  return *message;
}

void send_int(team& team, channel_sender& sender, int value) {
  std::memcpy(wait_reserve(team, sender), &value, sizeof(value));
  sender.commit(sizeof(value));
}

int receive_int(team& team, channel_receiver& receiver) {
  int value = -1;
  std::memcpy(&value, wait_front(team, receiver).data(), sizeof(value));
  receiver.release();
  return value;
}

// Lets time pass, on a real or a simulated clock.
void sleep_for_seconds(team& team, double seconds) {
  if (team.costs() != nullptr)
    team.charge_seconds(seconds);
  else
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// The code of the error that a call throws; errc{} without an error.
template <class Call>
errc code_of(const Call& call) {
  try {
    call();
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

std::vector<channel_end> ends_to_all(const team& team, std::size_t slot_bytes) {
  std::vector<channel_end> ends;
  for (int rank = 0; rank < team.size(); ++rank) ends.push_back({rank, slot_bytes});
  return ends;
}

TEST(Team, ranks_and_nodes_agree_everywhere) {
  spmd([](team& team) {
    ASSERT_GE(team.rank(), 0);
    ASSERT_LT(team.rank(), team.size());
    const auto ranks = team.allgather_value(team.rank());
    for (int rank = 0; rank < team.size(); ++rank) EXPECT_EQ(ranks[rank], rank);
    for (int rank = 0; rank < team.size(); ++rank) {
      const int node = team.broadcast_value(team.nodes().my_node(), rank);
      EXPECT_EQ(node, team.nodes().node_of(rank));
    }
    EXPECT_EQ(team.nodes().my_ranks()[team.nodes().local_index(team.rank())], team.rank());
    EXPECT_FALSE(team.cpus().empty());
  });
}

TEST(Team, no_rank_leaves_a_barrier_before_all_have_arrived) {
  spmd([](team& team) {
    const auto counter = team.allocate(sizeof(std::int64_t));
    for (int round = 0; round < 200; ++round) {
      counter->fetch_add(0, 0, 1);
      counter->quiet();
      team.barrier();
      const auto seen = counter->fetch_add(0, 0, 0);
      EXPECT_EQ(seen, static_cast<std::int64_t>(team.size()) * (round + 1));
      team.barrier();
    }
  });
}

TEST(Team, seconds_waited_for_a_late_rank_are_counted) {
  spmd([](team& team) {
    EXPECT_EQ(team.allreduce_value(team.waited_seconds() < 0 ? 1 : 0, reduction::max), 0);
    // A rank that the kernel does not run in time arrives late and does not wait. Then the test
    // tries again, with twice the time.
    bool all_waited = false;
    for (double late_seconds = 0.01; late_seconds < 5 && !all_waited; late_seconds *= 2) {
      team.barrier();
      const double before = team.waited_seconds(), began = team.now();
      const bool late = team.rank() == 0;
      if (late) sleep_for_seconds(team, late_seconds);
      team.barrier();
      const double waited = team.waited_seconds() - before, lasted = team.now() - began;
      EXPECT_LE(waited, lasted);
      if (late && team.size() == 1) {
        EXPECT_EQ(waited, 0) << "there is no other rank";
      }
      all_waited =
          team.allreduce_value(late || waited >= late_seconds / 4 ? 1 : 0, reduction::min) == 1;
    }
    EXPECT_TRUE(all_waited);
  });
}

thread_local bool has_yielded = false;

// A wait that tests something slow makes few spins, and another rank may need its core.
TEST(Waiter, yields_after_a_time_and_not_after_many_spins) {
  spmd([](team& team) {
    if (team.costs() != nullptr) return;  // a wait blocks there, and nothing would wake it
    has_yielded = false;
    // A wait makes this call when it has yielded for the first time.
    team.attribute<wait_callback>().call = [] { has_yielded = true; };
    int pauses = 0;
    for (waiter wait(team, "nothing"); !has_yielded && pauses < 500; wait.pause(), ++pauses)
      sleep_for_seconds(team, 1e-4);
    team.attribute<wait_callback>().call = nullptr;
    EXPECT_TRUE(has_yielded) << "after " << pauses << " pauses";
    team.barrier();
  });
}

TEST(Team, collectives_give_the_results_of_a_loop_over_ranks) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    for (int root = 0; root < size; ++root) {
      std::array<int, 5> data{};
      if (rank == root) data.fill(1000 + root);
      team.broadcast(std::as_writable_bytes(std::span(data)), root);
      for (int value : data) EXPECT_EQ(value, 1000 + root);
    }
    std::vector<std::int64_t> sums = {rank, -rank, 7};
    team.allreduce(sums, reduction::sum);
    const std::int64_t total = static_cast<std::int64_t>(size) * (size - 1) / 2;
    EXPECT_EQ(sums, (std::vector<std::int64_t>{total, -total, 7 * size}));
    EXPECT_EQ(team.allreduce_value(rank * 0.5, reduction::max), (size - 1) * 0.5);
    EXPECT_EQ(team.allreduce_value(rank + 3, reduction::min), 3);

    std::vector<int> out(size * 2), in(size * 2, -1);
    for (int peer = 0; peer < size; ++peer)
      out[2 * peer] = rank * 100 + peer, out[2 * peer + 1] = -peer;
    team.alltoall(std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(in)));
    for (int peer = 0; peer < size; ++peer) {
      EXPECT_EQ(in[2 * peer], peer * 100 + rank);
      EXPECT_EQ(in[2 * peer + 1], -rank);
    }
  });
}

// Numbers whose sum depends on the order, in fields that are longer than a piece of a transport.
TEST(Team, a_reduction_to_a_root_combines_in_the_order_of_ranks) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    const auto number = [](int of, std::size_t i) {
      return std::ldexp(1.0 + 0.1 * of, static_cast<int>((of * 37 + i * 11) % 60));
    };
    const auto integer = [](int of, std::size_t i) {
      return (of % 2 == 0 ? -1 : 1) * static_cast<std::int64_t>(of * 1000 + i % 991);
    };
    for (const std::size_t count : {1, 0, 3, 700, 20'000})
      for (int root = 0; root < size; ++root)
        for (const auto operation : {reduction::sum, reduction::min, reduction::max}) {
          if (count > 1000 && (operation == reduction::min || (size > 7 && root % 3 > 0))) continue;
          std::vector<double> numbers, expected_numbers;
          std::vector<std::int64_t> integers, expected_integers;
          for (std::size_t i = 0; i < count; ++i) {
            numbers.push_back(number(rank, i));
            integers.push_back(integer(rank, i));
            expected_numbers.push_back(number(0, i));
            expected_integers.push_back(integer(0, i));
            for (int r = 1; r < size && rank == root; ++r) {
              expected_numbers[i] = combined(expected_numbers[i], number(r, i), operation);
              expected_integers[i] = combined(expected_integers[i], integer(r, i), operation);
            }
          }
          if (rank != root) expected_numbers = numbers, expected_integers = integers;
          if (rank == (root + 1) % size && count == 3) sleep_for_seconds(team, 1e-3);
          team.reduce(std::span(numbers), operation, root);
          team.reduce(std::span(integers), operation, root);
          EXPECT_EQ(numbers, expected_numbers) << count << " to " << root;
          EXPECT_EQ(integers, expected_integers) << count << " to " << root;
        }
    const int last = size - 1;
    EXPECT_EQ(team.reduce_value(rank + 1, reduction::sum, last),
              rank == last ? size * (size + 1) / 2 : rank + 1);
    EXPECT_EQ(team.reduce_value(0.5F + static_cast<float>(rank), reduction::max, 0),
              rank == 0 ? 0.5F + static_cast<float>(last) : 0.5F + static_cast<float>(rank));
    const int most = std::numeric_limits<int>::max();
    EXPECT_EQ(code_of([&] { (void)team.reduce_value(most, reduction::sum, last); }),
              size > 1 ? errc::usage : errc{});
    for (const int root : {-1, size})
      EXPECT_EQ(code_of([&] { (void)team.reduce_value(1.0, reduction::sum, root); }), errc::usage);
    team.barrier();
  });
}

// Some data are longer than one piece of a transport, and a rank comes late. A collective must not
// overwrite memory that the previous collective still uses.
TEST(Team, consecutive_collectives_do_not_disturb_each_other) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    const std::int64_t total = static_cast<std::int64_t>(size) * (size - 1) / 2;
    for (int round = 0; round < 12; ++round) {
      if (round % 3 == 0 && rank == round % size) sleep_for_seconds(team, 2e-3);
      const std::size_t many = round % 4 == 0 ? 20'000 : 3;
      const auto value = [round](int of, std::size_t i) {
        return round * 1'000'000 + of * 10'000 + static_cast<int>(i % 7'919);
      };
      std::vector<int> shown(many), data(many), mine(many), all(many * size);
      for (std::size_t i = 0; i < many; ++i)
        shown[i] = value(round % size, i), mine[i] = value(rank, i);
      if (rank == round % size) data = shown;
      team.broadcast(std::as_writable_bytes(std::span(data)), round % size);
      EXPECT_EQ(data, shown);
      team.allgather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
      for (std::size_t peer = 0; peer < static_cast<std::size_t>(size); ++peer)
        for (std::size_t i = 0; i < many; ++i)
          ASSERT_EQ(all[peer * many + i], value(static_cast<int>(peer), i)) << round;
      std::vector<std::int64_t> sums(many, rank + round);
      team.allreduce(sums, reduction::sum);
      EXPECT_EQ(sums,
                std::vector<std::int64_t>(many, total + static_cast<std::int64_t>(size) * round));
    }
  });
}

// Transports move short blocks in another way than long ones. A rank comes late, so that a call may
// overwrite memory that the previous call still uses.
TEST(Team, alltoall_moves_blocks_of_any_length) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    int round = 0;
    for (const std::size_t bytes : {1, 0, 8, 13, 585, 586, 1024, 1025, 20'000, 3, 3, 3, 3}) {
      ++round;
      const auto value = [round](int from, int to, std::size_t i) {
        return static_cast<std::byte>(round * 50 + from * 7 + to * 3 + static_cast<int>(i % 251));
      };
      std::vector<std::byte> out, in(bytes * size), expected;
      for (int peer = 0; peer < size; ++peer)
        for (std::size_t i = 0; i < bytes; ++i) {
          out.push_back(value(rank, peer, i));
          expected.push_back(value(peer, rank, i));
        }
      if (rank == round % size) sleep_for_seconds(team, 1e-3);
      team.alltoall(out, in);
      EXPECT_EQ(in, expected) << bytes;
    }
  });
}

TEST(Team, a_broadcast_from_a_nonexistent_rank_is_refused) {
  spmd([](team& team) {
    std::array<std::byte, 8> data{};
    for (const int root : {-1, team.size()})
      EXPECT_EQ(code_of([&] { team.broadcast(data, root); }), errc::usage);
    team.barrier();
  });
}

TEST(Team, alltoallv_moves_uneven_and_empty_blocks) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    // 0 to 3 elements
    const auto block = [](int from, int to) {
      return static_cast<std::size_t>((from * 3 + to * 5) % 4);
    };
    std::vector<std::size_t> out_counts(size), in_counts(size);
    std::vector<std::array<int, 3>> out, expected;
    for (int peer = 0; peer < size; ++peer) {
      out_counts[peer] = block(rank, peer);
      in_counts[peer] = block(peer, rank);
      for (std::size_t i = 0; i < out_counts[peer]; ++i)
        out.push_back({rank, peer, static_cast<int>(i)});
      for (std::size_t i = 0; i < in_counts[peer]; ++i)
        expected.push_back({peer, rank, static_cast<int>(i)});
    }
    std::vector<std::array<int, 3>> in(expected.size());
    team.alltoallv(std::as_bytes(std::span(out)).data(), out_counts,
                   std::as_writable_bytes(std::span(in)).data(), in_counts, sizeof(in[0]));
    EXPECT_EQ(in, expected);
    EXPECT_GT(team.allreduce_value(out.size(), reduction::sum) + (size == 1 ? 1 : 0), 0u);
  });
}

TEST(Segment, is_zero_at_first_and_aligned) {
  spmd([](team& team) {
    const auto memory = team.allocate(10000);
    EXPECT_EQ(memory->size_bytes(), 10000u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->local()) % 4096, 0u);
    for (std::size_t i = 0; i < 10000; ++i) ASSERT_EQ(memory->local()[i], std::byte{0});
    const auto nothing = team.allocate(0);
    EXPECT_EQ(nothing->size_bytes(), 0u);
  });
}

TEST(Segment, put_and_get_reach_every_rank) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    const std::size_t line = 40;
    const auto memory = team.allocate(line * size);
    for (int step = 0; step < size; ++step) {
      const int peer = (rank + step) % size;
      std::array<std::int64_t, 5> mine{};
      mine.fill(rank * 1000 + peer);
      memory->put(peer, rank * line, mine.data(), line);
      mine.fill(-1);  // put() has returned
    }
    memory->quiet();
    team.barrier();
    const auto* lines = reinterpret_cast<const std::int64_t*>(memory->local());
    for (int peer = 0; peer < size; ++peer)
      for (int i = 0; i < 5; ++i) EXPECT_EQ(lines[peer * 5 + i], peer * 1000 + rank);
    for (int peer = 0; peer < size; ++peer) {
      std::array<std::int64_t, 5> theirs{};
      memory->get(peer, rank * line, theirs.data(), line);
      for (auto value : theirs) EXPECT_EQ(value, rank * 1000 + peer);
    }
    team.barrier();
  });
}

TEST(Segment, started_puts_and_gets_are_complete_after_quiet) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    constexpr int items = 300;
    const auto memory = team.allocate(sizeof(std::int64_t) * items * size);
    std::vector<std::int64_t> mine(items * size), theirs(items * size, -1);
    for (int i = 0; i < items * size; ++i) mine[i] = rank * 1'000'000 + i;
    for (int peer = 0; peer < size; ++peer)
      for (int i = 0; i < items; ++i)
        memory->put_start(peer, sizeof(std::int64_t) * (rank * items + i), &mine[peer * items + i],
                          sizeof(std::int64_t));
    memory->quiet();
    team.barrier();
    for (int peer = 0; peer < size; ++peer)
      for (int i = 0; i < items; ++i)
        memory->get_start(peer, sizeof(std::int64_t) * (rank * items + i),
                          &theirs[peer * items + i], sizeof(std::int64_t));
    memory->quiet();
    EXPECT_EQ(theirs, mine);
    team.barrier();
  });
}

TEST(Segment, direct_gives_the_same_memory_and_only_within_a_node) {
  spmd([](team& team) {
    const auto memory = team.allocate(64 * team.size());
    EXPECT_EQ(memory->direct(team.rank()), memory->local());
    for (int peer = 0; peer < team.size(); ++peer) {
      std::byte* there = memory->direct(peer);
      EXPECT_EQ(there != nullptr, team.nodes().is_local(peer));
      if (there != nullptr) there[64 * team.rank()] = std::byte(team.rank() + 1);
    }
    memory->quiet();
    team.barrier();
    for (int peer = 0; peer < team.size(); ++peer)
      EXPECT_EQ(memory->local()[64 * peer], std::byte(team.nodes().is_local(peer) ? peer + 1 : 0))
          << peer;
  });
}

TEST(Segment, fetch_add_loses_no_update_and_returns_each_value_once) {
  spmd([](team& team) {
    constexpr int adds = 500;
    const auto memory = team.allocate(2 * sizeof(std::int64_t));
    std::vector<std::int64_t> seen;
    for (int i = 0; i < adds; ++i) seen.push_back(memory->fetch_add(team.size() - 1, 8, 3));
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    team.barrier();
    std::vector<std::int64_t> all(seen.size() * team.size());
    team.allgather(std::as_bytes(std::span(seen)), std::as_writable_bytes(std::span(all)));
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], static_cast<std::int64_t>(3 * i));
  });
}

TEST(Segment, started_fetch_adds_are_complete_after_quiet) {
  spmd([](team& team) {
    constexpr int adds = 100;
    const auto ranks = static_cast<std::size_t>(team.size());
    const auto memory = team.allocate(2 * sizeof(std::int64_t));
    // Several of one rank are under way, to every target.
    const std::vector<std::int64_t> amounts(adds * ranks, 3);
    std::vector<std::int64_t> previous(amounts.size(), -1);
    for (std::size_t i = 0; i < amounts.size(); ++i)
      memory->fetch_add_start(static_cast<int>(i % ranks), 8, &amounts[i], &previous[i]);
    memory->quiet();
    team.barrier();
    std::vector<std::int64_t> all(previous.size() * ranks);
    team.allgather(std::as_bytes(std::span(previous)), std::as_writable_bytes(std::span(all)));
    // Every value comes once from each of the targets.
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], static_cast<std::int64_t>(3 * (i / ranks)));
    EXPECT_EQ(memory->fetch_add(team.rank(), 8, 0), static_cast<std::int64_t>(3 * adds * ranks));
    EXPECT_EQ(code_of([&] { memory->fetch_add_start(0, 4, amounts.data(), previous.data()); }),
              errc::usage);
    team.barrier();
  });
}

TEST(Segment, a_range_outside_is_refused) {
  spmd([](team& team) {
    const auto memory = team.allocate(100);
    std::array<std::byte, 16> buffer{};
    EXPECT_EQ(code_of([&] { memory->put(0, 90, buffer.data(), 16); }), errc::usage);
    EXPECT_EQ(code_of([&] { memory->get(0, 101, buffer.data(), 0); }), errc::usage);
    EXPECT_EQ(code_of([&] { memory->get(team.size(), 0, buffer.data(), 1); }), errc::usage);
    EXPECT_EQ(code_of([&] { memory->get(-1, 0, buffer.data(), 1); }), errc::usage);
    EXPECT_EQ(code_of([&] { memory->fetch_add(0, 4, 1); }), errc::usage);
    EXPECT_EQ(code_of([&] { memory->put(0, std::size_t(-8), buffer.data(), 16); }), errc::usage);
    team.barrier();
  });
}

TEST(Segment, more_memory_than_available_is_refused_on_all_ranks) {
  spmd([](team& team) {
    EXPECT_EQ(code_of([&] { (void)team.allocate(std::size_t{1} << 46); }), errc::out_of_memory);
    team.barrier();
  });
}

TEST(Segment, sizes_that_would_overflow_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const std::size_t max = std::numeric_limits<std::size_t>::max();
    for (const std::size_t bytes : {max, max - 100, max / 2 + 1, max / 4 + 1, max / 8 + 4096}) {
      EXPECT_EQ(code_of([&] { (void)team.allocate(bytes); }), errc::out_of_memory) << bytes;
      team.barrier();
    }
  });
}

TEST(Segment, requests_of_all_ranks_of_a_host_are_added_up_over_virtual_nodes) {
  spmd([](team& team) {
    const std::size_t available = team.broadcast_value(available_memory_bytes());
    // The ranks of a host together request only 1.5 times the available memory. Several hosts may
    // be namespaces of one machine, and after a wrong allocation a larger request would take all
    // the memory.
    const int ranks_on_host = team.broadcast_value(team.nodes().ranks_on_host());
    const std::size_t bytes = available / ranks_on_host * 3 / 2;
    EXPECT_EQ(code_of([&] { (void)team.allocate(bytes); }), errc::out_of_memory);
    team.barrier();
  });
}

TEST(Segment, memory_is_zero_again_after_it_was_written_and_freed) {
  spmd([](team& team) {
    constexpr std::size_t bytes = 100000;
    for (int round = 0; round < 5; ++round) {
      const auto memory = team.allocate(bytes);
      EXPECT_EQ(std::count(memory->local(), memory->local() + bytes, std::byte{0}),
                static_cast<std::ptrdiff_t>(bytes));
      std::memset(memory->local(), 0xff, bytes);
    }
  });
}

// The free is deferred until all ranks allocate again.
TEST(Segment, a_single_rank_may_leave_its_segments_by_an_exception) {
  spmd([](team& team) {
    (void)code_of([&] {
      const auto first = team.allocate(100), second = team.allocate(200);
      team.barrier();
      if (team.rank() == team.size() - 1) fail(errc::usage, "the last rank leaves");
    });
    const auto memory = team.allocate(300);
    team.barrier();
    EXPECT_EQ(memory->local()[0], std::byte{0});
  });
}

TEST(Segment, unequal_sizes_are_refused_on_all_ranks) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    EXPECT_EQ(code_of([&] { (void)team.allocate(64 + team.rank()); }), errc::usage);
    team.barrier();
  });
}

// Ranks send messages of different lengths to at most so many next ranks, from themselves on, and
// check what they receive. Every second channel streams.
void exchange_messages(int max_peers, int messages, std::size_t slot_bytes,
                       const std::function<std::size_t(int from, int n)>& length) {
  spmd([=](team& team) {
    const int size = team.size(), rank = team.rank(), peers = std::min(max_peers, size);
    std::vector<channel_end> to, from;
    for (int k = 0; k < peers; ++k) {
      to.push_back({.peer = (rank + k) % size, .slot_bytes = slot_bytes, .streams = k % 2 == 1});
      from.push_back({(rank + size - k) % size, slot_bytes});
    }
    const auto channels = team.open_channels(to, from, 3);
    ASSERT_EQ(channels->sender_count(), to.size());
    std::vector<int> sent(to.size(), 0), received(to.size(), 0);
    // A prime number of different bytes: a part at another place is noticed.
    const auto content = [](int source, int n, std::size_t i) {
      return static_cast<std::byte>((static_cast<std::size_t>(source * 7 + n) + i) % 251);
    };
    waiter wait(team, "messages");
    for (int left = 2 * peers * messages; left > 0;) {
      bool moved = false;
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (sent[k] < messages) {
          if (std::byte* slot = channels->sender(k).reserve()) {
            const std::size_t bytes = length(rank, sent[k]);
            for (std::size_t i = 0; i < bytes; ++i) slot[i] = content(rank, sent[k], i);
            channels->sender(k).commit(bytes);
            ++sent[k], --left, moved = true;
          }
        }
        if (const auto message = channels->receiver(k).front()) {
          const int source = from[k].peer;
          ASSERT_EQ(message->size(), length(source, received[k]));
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < message->size(); ++i)
            wrong += (*message)[i] != content(source, received[k], i) ? 1 : 0;
          ASSERT_EQ(wrong, 0U) << "of message " << received[k] << " from rank " << source;
          channels->receiver(k).release();
          ++received[k], --left, moved = true;
        }
      }
      if (!moved) wait.pause();
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
      EXPECT_EQ(received[k], messages);
      EXPECT_FALSE(channels->receiver(k).front());
    }
  });
}

TEST(Channel, messages_of_one_pair_arrive_whole_and_in_order) {
  constexpr std::size_t slot_bytes = 1000;
  exchange_messages(std::numeric_limits<int>::max(), 300, slot_bytes, [](int from, int n) {
    return static_cast<std::size_t>(from + n * 37) % (slot_bytes + 1);
  });
}

// Some transports cut them: the lengths are around those of whole parts.
TEST(Channel, long_messages_arrive_whole_and_in_order) {
  for (const auto& [part, slot_bytes] : {std::pair<std::size_t, std::size_t>{4 << 10, 20'000},
                                         std::pair<std::size_t, std::size_t>{63 << 10, 200'000}}) {
    const std::array<std::size_t, 8> lengths{slot_bytes, 0,        part,     part - 1,
                                             part + 1,   3 * part, 2 * part, 1};
    exchange_messages(3, static_cast<int>(lengths.size()), slot_bytes, [lengths](int from, int n) {
      return lengths[static_cast<std::size_t>(from + n) % lengths.size()];
    });
  }
}

TEST(Channel, a_sender_is_stopped_by_a_slow_receiver) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    constexpr int slots = 2;
    const std::array<channel_end, 1> to{{{(rank + 1) % size, 64}}},
        from{{{(rank + size - 1) % size, 64}}};
    const auto channels = team.open_channels(to, from, slots);
    auto& sender = channels->sender(0);
    int sent = 0;
    // No rank receives. Messages between nodes may fill the slots at sender and receiver, but not
    // more.
    for (int attempt = 0; attempt < 2000; ++attempt) {
      if (sender.reserve() == nullptr) {
        team.progress();
        continue;
      }
      std::memcpy(sender.reserve(), &sent, sizeof(sent));
      sender.commit(sizeof(sent));
      ++sent;
    }
    EXPECT_GE(sent, slots);
    EXPECT_LE(sent, team.nodes().is_local(to[0].peer) ? slots : 2 * slots);
    team.barrier();
    const int expected = team.allgather_value(sent)[from[0].peer];
    for (int n = 0; n < expected; ++n) EXPECT_EQ(receive_int(team, channels->receiver(0)), n);
    (void)wait_reserve(team, sender);  // the sender has a free slot again
    team.barrier();
  });
}

// Over MPI, sets share windows. Ranks whose sets have other sizes find room in other windows.
TEST(Channel, sets_of_other_sizes_on_each_rank_do_not_overlap) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank(), from = (rank + size - 1) % size;
    const auto end = [](int peer, int sender) {
      return channel_end{peer, (std::size_t{32} << 10) * static_cast<std::size_t>(1 + sender % 4)};
    };
    const std::array to{end((rank + 1) % size, rank)}, incoming{end(from, from)};
    std::vector<std::unique_ptr<channel_set>> sets;
    const auto expect_own_messages = [&] {
      for (std::size_t i = 0; i < sets.size(); ++i) {
        auto& sender = sets[i]->sender(0);
        const auto tag = static_cast<unsigned char>(1 + i + 16 * static_cast<std::size_t>(rank));
        std::memset(wait_reserve(team, sender), tag, sender.slot_bytes());
        sender.commit(sender.slot_bytes());
      }
      for (std::size_t i = 0; i < sets.size(); ++i) {
        auto& receiver = sets[i]->receiver(0);
        const auto message = wait_front(team, receiver);
        const auto tag = static_cast<std::byte>(1 + i + 16 * static_cast<std::size_t>(from));
        EXPECT_EQ(std::count(message.begin(), message.end(), tag), std::ssize(message));
        receiver.release();
      }
    };
    for (const std::size_t sets_to_open : {6, 3}) {
      for (std::size_t i = 0; i < sets_to_open; ++i) {
        sets.push_back(team.open_channels(to, incoming, 2));
        expect_own_messages();
      }
      sets.erase(sets.begin() + 1);
      sets.erase(sets.begin() + 3);
    }
    expect_own_messages();
  });
}

// A message may carry the credit for a slot. The credit must arrive even if that message is not
// read.
TEST(Channel, credits_arrive_while_the_messages_that_carry_them_are_not_read) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    // requests, replies
    const std::array<channel_end, 2> to{{{next, 64}, {before, 8}}}, from{{{before, 64}, {next, 8}}};
    constexpr int slots = 2, rounds = 20;
    const auto channels = team.open_channels(to, from, slots);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < slots; ++i)
        send_int(team, channels->sender(0), rank + i);  // fills all slots
      for (int i = 0; i < slots; ++i) {
        const int request = receive_int(team, channels->receiver(0));
        EXPECT_EQ(request, before + i);
        send_int(team, channels->sender(1), request);
      }
      (void)wait_reserve(team, channels->sender(0));
      for (int i = 0; i < slots; ++i) EXPECT_EQ(receive_int(team, channels->receiver(1)), rank + i);
    }
    team.barrier();
  });
}

// A deferred credit must not wait for ever for a message that carries it, because the receiving
// rank may poll only another channel.
TEST(Channel, credits_arrive_from_a_rank_that_only_polls_another_channel) {
  spmd([](team& team) {
    const int rank = team.rank(), partner = rank ^ 1;
    constexpr int slots = 4;
    constexpr double max_seconds = 10;
    const bool paired = partner < team.size(), sends = paired && rank < partner,
               receives = paired && !sends;
    // the second channel is only polled
    const std::array<channel_end, 2> ends{{{partner, 64}, {partner, 0}}};
    const std::span<const channel_end> none;
    const auto channels = team.open_channels(sends ? ends : none, receives ? ends : none, slots);
    if (sends) {
      for (int i = 0; i <= slots; ++i) {
        (void)wait_reserve(team, channels->sender(0));
        channels->sender(0).commit(8);
      }
      (void)wait_reserve(team, channels->sender(1));
      channels->sender(1).commit(0);
    } else if (receives) {
      (void)wait_front(team, channels->receiver(0));
      channels->receiver(0).release();
      const double began = team.now();
      bool arrived = false;
      while (!arrived && team.now() - began < max_seconds)
        arrived = channels->receiver(1).front().has_value();
      EXPECT_TRUE(arrived);
    }
    team.barrier();
  });
}

// With many slots, credits may wait for each other. A receiver that releases one message and then
// waits for the next must get it.
TEST(Channel, a_released_slot_can_be_used_again_however_many_slots_there_are) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    for (const int slots : {1, 3, 8, 21}) {
      SCOPED_TRACE(slots);
      // The second pair of channels has slots of its own.
      const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
      const channel_end to[] = {{next, sizeof(int)}, {next, sizeof(int), slots + 1}},
                        from[] = {{previous, sizeof(int)}, {previous, sizeof(int), slots + 1}};
      const auto channels = team.open_channels(to, from, slots);
      for (std::size_t c = 0; c < 2; ++c) {
        const int own_slots = slots + static_cast<int>(c), messages = 4 * own_slots;
        for (int i = 0; i < own_slots; ++i) send_int(team, channels->sender(c), i);
        for (int i = 0; i < messages; ++i) {
          EXPECT_EQ(receive_int(team, channels->receiver(c)), i);
          if (i + own_slots < messages) send_int(team, channels->sender(c), i + own_slots);
        }
      }
    }
  });
}

TEST(Channel, several_channels_of_one_pair_are_matched_in_order) {
  spmd([](team& team) {
    const int size = team.size(), rank = team.rank();
    // As in a periodic halo exchange. With one or two ranks, down and up are the same rank.
    const int down = (rank + size - 1) % size, up = (rank + 1) % size;
    const std::array<channel_end, 2> to{{{down, 100}, {up, 200}}}, from{{{up, 100}, {down, 200}}};
    const auto channels = team.open_channels(to, from, 2);
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 2; ++i) send_int(team, channels->sender(i), rank * 10 + i);
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ(receive_int(team, channels->receiver(i)), from[i].peer * 10 + i);
    }
  });
}

TEST(Channel, closing_a_set_drops_messages_that_were_not_received) {
  spmd([](team& team) {
    for (int round = 0; round < 5; ++round) {
      const auto ends = ends_to_all(team, 64);
      const auto channels = team.open_channels(ends, ends, 2);
      for (int peer = 0; peer < team.size(); ++peer)
        if (channels->sender(peer).reserve() != nullptr) channels->sender(peer).commit(8);
      if (round % 2 == 0)
        for (int peer = 0; peer < team.size(); ++peer)
          (void)wait_front(team, channels->receiver(peer));
    }
  });
}

// Sets may lie in memory that earlier sets used, and in gaps between others.
TEST(Channel, sets_that_open_and_close_in_any_order_start_empty_and_keep_their_messages) {
  spmd([](team& team) {
    constexpr int most_sets = 6, rounds = 40;
    struct open_set {
      std::unique_ptr<channel_set> channels;
      int value;
    };
    std::vector<open_set> open;
    std::mt19937 random(7);  // the same on all ranks
    for (int round = 0; round < rounds; ++round) {
      if (open.size() == most_sets) {
        for (int closed = 0; closed < 3; ++closed) {
          const std::size_t i = random() % open.size();
          for (int peer = 0; peer < team.size(); ++peer)
            EXPECT_EQ(receive_int(team, open[i].channels->receiver(peer)), open[i].value + peer);
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      const std::size_t slot_bytes = 64 + random() % (round % 8 == 7 ? 2'000'000 : 20'000);
      const auto ends = ends_to_all(team, slot_bytes);
      auto channels = team.open_channels(ends, ends, 2);
      for (int peer = 0; peer < team.size(); ++peer)
        ASSERT_FALSE(channels->receiver(peer).front()) << "round " << round;
      team.barrier();  // No rank sends before all have looked.
      // The second message is lost when the set is closed.
      for (int message = 0; message < 2; ++message)
        for (int peer = 0; peer < team.size(); ++peer)
          send_int(team, channels->sender(peer), 1000 * round + team.rank());
      open.push_back({std::move(channels), 1000 * round});
    }
  });
}

TEST(Channel, slots_that_would_overflow_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const std::size_t max = std::numeric_limits<std::size_t>::max();
    for (const std::size_t slot_bytes : {max, max - 100, max / 4 + 1, max / 16 + 1}) {
      const auto ends = ends_to_all(team, slot_bytes);
      EXPECT_NE(code_of([&] { (void)team.open_channels(ends, ends, 16); }), errc{}) << slot_bytes;
      team.barrier();
    }
  });
}

// The bytes that this process has mapped and can read. Address space without access is left out:
// malloc reserves 64 MiB of it when two threads of a busy machine allocate at the same time.
std::size_t mapped_bytes() {
  std::ifstream file("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::size_t begin = 0, end = 0;
    char dash = 0;
    std::string access;
    words >> std::hex >> begin >> dash >> end >> access;
    if (access.starts_with('r')) bytes += end - begin;
  }
  return bytes;
}

TEST(Channel, an_error_that_all_ranks_catch_leaks_no_memory) {
  spmd([](team& team) {
    constexpr int rounds = 16, warm_up = 4;
    constexpr std::size_t segment_bytes = std::size_t{4} << 20;
    const channel_end to{(team.rank() + 1) % team.size(), 64},
        from{(team.rank() + team.size() - 1) % team.size(), 64};
    std::size_t mapped = 0;
    for (int round = 0; round < warm_up + rounds; ++round) {
      // when the error is thrown, a segment and channels exist, and a message is in flight
      const auto code = code_of([&] {
        const auto memory = team.allocate(segment_bytes);
        const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
        send_int(team, channels->sender(0), round);
        (void)team.allocate(std::size_t{1} << 46);
      });
      ASSERT_EQ(code, errc::out_of_memory) << "round " << round;
      if (round + 1 != warm_up) continue;
      team.barrier();
      mapped = mapped_bytes();
      team.barrier();
    }
    team.barrier();
    EXPECT_GT(mapped, segment_bytes);
    EXPECT_LT(mapped_bytes(), mapped + rounds / 2 * segment_bytes);
    team.barrier();
    const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
    send_int(team, channels->sender(0), 4711);
    EXPECT_EQ(receive_int(team, channels->receiver(0)), 4711);
  });
}

// The network cannot take all messages at once, so the last ones leave after the destruction of the
// sender's end.
TEST(Channel, messages_arrive_after_their_sender_was_destroyed_by_an_exception) {
  spmd([](team& team) {
    if (team.size() == 1) return;
    constexpr int slots = 8192;
    constexpr std::size_t slot_bytes = 2048;
    const int last = team.size() - 1;
    const bool sends = team.rank() == 0, receives = team.rank() == last;
    const std::array<channel_end, 1> to{{{last, slot_bytes}}}, from{{{0, slot_bytes}}};
    const std::span<const channel_end> none;
    const auto code = code_of([&] {
      const auto channels = team.open_channels(sends ? to : none, receives ? from : none, slots);
      for (int message = 0; sends && message < slots; ++message) {
        std::memset(wait_reserve(team, channels->sender(0)), message & 0x7f, slot_bytes);
        channels->sender(0).commit(slot_bytes);
      }
      if (sends) fail(errc::usage, "the sender leaves");
      // meanwhile messages in flight fill the buffers of the network
      if (receives) sleep_for_seconds(team, 0.1);
      for (int message = 0; receives && message < slots; ++message) {
        const auto received = wait_front(team, channels->receiver(0));
        ASSERT_EQ(received.size(), slot_bytes);
        ASSERT_EQ(received.front(), std::byte(message & 0x7f));
        ASSERT_EQ(std::memcmp(received.data(), received.data() + 1, slot_bytes - 1), 0)
            << "not all bytes are the same";
        channels->receiver(0).release();
      }
    });
    EXPECT_EQ(code, sends ? errc::usage : errc{});
    // may reuse the memory of the destroyed end
    const std::vector<std::byte> written(slots * sizeof(std::uint64_t), std::byte{0xff});
    const auto memory = team.allocate(300);
    team.barrier();
  });
}

template <class T>
void expect_exact_sums(team& team) {
  constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  const auto share = static_cast<T>(high / static_cast<T>(team.size()));
  const bool is_first = team.rank() == 0;
  std::vector<T> values = {share, is_first ? low : T{0}, is_first ? high : T{0}, T{1}};
  sum_exactly(team, std::span(values));
  EXPECT_EQ(values, (std::vector<T>{static_cast<T>(share * static_cast<T>(team.size())), low, high,
                                    static_cast<T>(team.size())}));
  if (team.size() == 1) return;
  for (const T too_much : {high, low}) {
    if (too_much == 0) continue;
    values = {T{3}, too_much};
    EXPECT_EQ(code_of([&] { sum_exactly(team, std::span(values)); }), errc::usage);
    EXPECT_EQ(values, (std::vector<T>{T{3}, too_much}));
  }
}

TEST(Collective, exact_sums_of_integers_never_wrap_around) {
  spmd([](team& team) {
    expect_exact_sums<std::int8_t>(team);
    expect_exact_sums<std::uint16_t>(team);
    expect_exact_sums<std::int32_t>(team);
    expect_exact_sums<std::int64_t>(team);
    expect_exact_sums<std::uint64_t>(team);
    std::vector<std::int64_t> none;
    sum_exactly(team, std::span(none));
    const int most = std::numeric_limits<int>::max();
    EXPECT_EQ(code_of([&] { (void)team.allreduce_value(most, reduction::sum); }),
              team.size() > 1 ? errc::usage : errc{});
  });
}

TEST(Channel, ends_that_do_not_match_are_refused) {
  spmd([](team& team) {
    // The ends of a channel are compared only in shared memory. Between nodes MPI detects a message
    // that is too long.
    if (team.size() != 1) return;
    const std::array<channel_end, 1> small{{{0, 64}}}, large{{{0, 128}}};
    EXPECT_THROW((void)team.open_channels(small, large, 2), slot_mismatch);
    EXPECT_THROW((void)team.open_channels(small, small, 0), error);
    EXPECT_THROW((void)team.open_channels({}, small, 2), error);
  });
}

}  // namespace
}  // namespace longshore
