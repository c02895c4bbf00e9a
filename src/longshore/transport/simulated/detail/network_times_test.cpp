// Times of known bytes on the simulated machine, against arithmetic with the numbers of its file:
// ping-pong, shift, incast and all-to-all on each topology.
#include <longshore/transport/simulated/detail/test_machine.hpp>
#include <longshore/transport/waiter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace longshore {
namespace {

using namespace simulated_tests;

constexpr double hop = 0.5 * micro, link_per_byte = 0.2e-9;  // links are slower than cards
constexpr std::size_t message_bytes = 1'000'000;             // of puts
constexpr double bytes_on_card = (message_bytes - 1) * per_byte,
                 card = gap + bytes_on_card,  // between two messages of a card
    link = message_bytes * link_per_byte;     // between two messages of a link

const char* const links = "hop_us = 0.5\nlink_GB_per_s = 5.0\n";

std::string fat_tree(int uplinks) {
  return crossbar() + "[topology]\nkind = \"fat-tree\"\n" + links +
         "nodes_per_switch = 4\nuplinks = " + std::to_string(uplinks) + "\n";
}

// Groups of 4 nodes with a link between each two groups.
std::string dragonfly(const std::string& routes, int routers_per_group = 1) {
  return crossbar() + "[topology]\nkind = \"dragonfly\"\n" + links +
         "nodes_per_router = " + std::to_string(4 / routers_per_group) +
         "\nrouters_per_group = " + std::to_string(routers_per_group) +
         "\nglobal_links = 1\nroutes = \"" + routes + "\"\n" +
         (routes == "valiant" ? "seed = 7\n" : "");
}

// A machine of `nodes` nodes.
std::string with_nodes(std::string text, int nodes) {
  const std::string all = "nodes = 64";
  return text.replace(text.find(all), all.size(), "nodes = " + std::to_string(nodes));
}

void expect_within_2_percent(double seconds, double expected, const std::string& what = "") {
  EXPECT_NEAR(seconds, expected, 0.02 * expected) << what;
}

std::byte* reserve(team& team, channel_sender& sender) {
  std::byte* slot = nullptr;
  for (waiter wait(team, "a free slot", sender.peer()); (slot = sender.reserve()) == nullptr;
       wait.pause()) {
  }
  return slot;
}

void receive(team& team, channel_receiver& receiver) {
  for (waiter wait(team, "a message", receiver.peer()); !receiver.front(); wait.pause()) {
  }
  receiver.release();
}

// Seconds of a message each way between rank 0 and the last rank, in the steady state.
double ping_pong(const std::string& text, int ranks, std::size_t bytes) {
  double seconds = 0;
  simulate(text, ranks, [&](team& team) {
    const bool first = team.rank() == 0, last = team.rank() == ranks - 1;
    std::vector<channel_end> end;
    if (first || last) end.push_back({first ? ranks - 1 : 0, bytes});
    const auto channels = team.open_channels(end, end, 2);
    constexpr int rounds = 100;
    team.barrier();
    if (!first && !last) return;
    const double start = team.now();
    for (int i = 0; i < rounds; ++i) {
      if (last) receive(team, channels->receiver(0));
      (void)reserve(team, channels->sender(0));
      channels->sender(0).commit(bytes);
      if (first) receive(team, channels->receiver(0));
    }
    if (first) seconds = (team.now() - start) / (2 * rounds);
  });
  return seconds;
}

// Seconds until the puts of all ranks to their targets, in this order, are complete.
double puts(const std::string& text, int ranks,
            const std::function<std::vector<int>(int)>& targets_of) {
  std::vector<double> starts(static_cast<std::size_t>(ranks)), ends(starts);
  simulate(text, ranks, [&](team& team) {
    const auto memory = team.allocate(message_bytes);
    const std::vector<std::byte> data(message_bytes);
    const auto rank = static_cast<std::size_t>(team.rank());
    team.barrier();
    starts[rank] = team.now();
    for (const int target : targets_of(team.rank()))
      memory->put_start(target, 0, data.data(), message_bytes);
    memory->quiet();
    ends[rank] = team.now();
  });
  return *std::max_element(ends.begin(), ends.end()) -
         *std::min_element(starts.begin(), starts.end());
}

// A put, and the answer of the network to its sender.
constexpr double around = overhead + 2 * latency;

double shift(const std::string& text, int ranks, int distance) {
  return puts(text, ranks, [=](int rank) { return std::vector{(rank + distance) % ranks}; });
}

double incast(const std::string& text, int ranks) {
  return puts(text, ranks, [](int rank) { return std::vector<int>(rank == 0 ? 0 : 1, 0); });
}

// Each rank begins with the rank at `distance`, so that no two ranks send to one at the same time.
double all_to_all(const std::string& text, int ranks, int distance) {
  return puts(text, ranks, [=](int rank) {
    std::vector<int> targets;
    for (int i = 0; i < ranks; ++i)
      if (const int target = (rank + distance + i) % ranks; target != rank)
        targets.push_back(target);
    return targets;
  });
}

TEST(NetworkTimes, ping_pong) {
  struct network_case {
    const char* name;
    std::string text;
    int ranks, hops;
  };
  const std::array cases{
      network_case{"crossbar", crossbar(), 2, 0},
      network_case{"fat tree, one switch", fat_tree(2), 4, 0},
      network_case{"fat tree", fat_tree(2), 5, 2},
      network_case{"dragonfly, one router", dragonfly("minimal"), 4, 0},
      network_case{"dragonfly, one group", dragonfly("minimal", 2), 4, 1},
      network_case{"dragonfly, minimal", dragonfly("minimal"), 5, 1},
      network_case{"dragonfly, Valiant", dragonfly("valiant"), 5, 2},
  };
  for (const auto& it : cases)
    for (const std::size_t bytes : {8u, 4096u, 65536u, 1048576u})
      expect_within_2_percent(
          ping_pong(it.text, it.ranks, bytes),
          2 * overhead + latency + it.hops * hop +
              static_cast<double>(bytes - 1) * (it.hops > 0 ? link_per_byte : per_byte),
          it.name + std::string(", bytes: ") + std::to_string(bytes));
}

TEST(NetworkTimes, a_message_takes_the_rate_of_its_size) {
  std::string text = crossbar();
  const std::string one = "ns_per_byte = 0.1";
  text.replace(text.find(one), one.size(), "ns_per_byte = [[1000, 1.0], [100000, 0.1]]");
  const double small = 2 * overhead + latency;
  expect_within_2_percent(ping_pong(text, 2, 1000), small + 1000e-9);
  expect_within_2_percent(ping_pong(text, 2, 100'000), small + 100'000 * 0.1e-9);
}

TEST(NetworkTimes, both_processors_spend_the_overhead_per_byte) {
  std::string text = crossbar();
  const std::string before = "gap_us";
  text.replace(text.find(before), before.size(), "overhead_ns_per_byte = 0.3\ngap_us");
  constexpr std::size_t bytes = 100'000;
  expect_within_2_percent(ping_pong(text, 2, bytes),
                          2 * overhead + latency + bytes * (per_byte + 2 * 0.3e-9));
}

TEST(NetworkTimes, shift) {
  expect_within_2_percent(shift(crossbar(), 8, 1), around + bytes_on_card);
  // The 4 ranks of a switch share 2 links: the second message of a link waits for the first.
  expect_within_2_percent(shift(fat_tree(2), 8, 4), around + 2 * hop + 2 * link);
  // The 4 ranks of a group share the link to the next group.
  expect_within_2_percent(shift(with_nodes(dragonfly("minimal"), 12), 12, 4),
                          around + hop + 4 * link);
  // By way of the third of three groups, a link also carries the second half of the way of 4 ranks.
  expect_within_2_percent(shift(with_nodes(dragonfly("valiant"), 12), 12, 4),
                          around + 2 * hop + 8 * link);
}

TEST(NetworkTimes, incast) {
  // The card of rank 0 takes one message after the other.
  expect_within_2_percent(incast(crossbar(), 17), around + 16 * card);
  // 13 of the 16 messages come through the link from the second level to the switch of rank 0.
  expect_within_2_percent(incast(fat_tree(2), 17), around + 2 * hop + 13 * link);
  // Two groups send at the same time, each at half the rate of the card.
  expect_within_2_percent(incast(with_nodes(dragonfly("minimal"), 12), 12),
                          around + hop + 11 * card);
  // The messages of 4 ranks in each of two groups come by way of the other.
  expect_within_2_percent(incast(with_nodes(dragonfly("valiant"), 12), 12),
                          around + 2 * hop + 11 * card);
}

TEST(NetworkTimes, all_to_all) {
  expect_within_2_percent(all_to_all(crossbar(), 8, 1), around + 7 * card);
  // A switch sends 4 x 4 messages through its 2 links.
  expect_within_2_percent(all_to_all(fat_tree(2), 8, 4), around + 2 * hop + 8 * link);
  // The same through one link.
  expect_within_2_percent(all_to_all(fat_tree(1), 8, 4), around + 2 * hop + 16 * link);
  // 4 x 4 messages from group to group. The link to the last group is idle for one message.
  expect_within_2_percent(all_to_all(with_nodes(dragonfly("minimal"), 12), 12, 4),
                          around + hop + 16 * link + card);
  // A link also carries the second half of the way of as many messages.
  expect_within_2_percent(all_to_all(with_nodes(dragonfly("valiant"), 12), 12, 4),
                          around + 2 * hop + 32 * link + card);
}

}  // namespace
}  // namespace longshore
