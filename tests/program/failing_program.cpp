// A program that fails on purpose. Its first argument names the failure. Tests check how the run
// ends.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using longshore::team;

int last_rank(const team& team) { return team.size() - 1; }

void sleep_long() {
  const timespec long_time{1000, 0};
  nanosleep(&long_time, nullptr);
}

// A launcher continues stopped processes before it ends them. The loop then stops the process
// again.
[[noreturn]] void stop() {
  for (;;) std::raise(SIGSTOP);
}

void last_rank_throws(team& team) {
  team.barrier();
  if (team.rank() == last_rank(team))
    longshore::fail(longshore::errc::usage, "this rank fails on purpose");
  team.barrier();
}

void last_rank_never_comes(team& team) {
  team.barrier();
  if (team.rank() == last_rank(team)) sleep_long();
  team.barrier();
}

void alltoall(team& team) {
  std::vector<std::byte> outgoing(static_cast<std::size_t>(team.size())), incoming(outgoing.size());
  team.alltoall(outgoing, incoming);
}

void last_rank_throws_before_an_alltoall(team& team) {
  alltoall(team);
  if (team.rank() == last_rank(team))
    longshore::fail(longshore::errc::usage, "this rank fails on purpose");
  alltoall(team);
}

void last_rank_never_comes_to_an_alltoall(team& team) {
  alltoall(team);
  if (team.rank() == last_rank(team)) sleep_long();
  alltoall(team);
}

void last_rank_never_receives(team& team) {
  const longshore::channel_end to{(team.rank() + 1) % team.size(), 64};
  const longshore::channel_end from{(team.rank() + last_rank(team)) % team.size(), 64};
  const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
  for (int message = 0; message < 10; ++message) {
    longshore::waiter wait(team, "a free slot", to.peer);
    while (channels->sender(0).reserve() == nullptr) wait.pause();
    channels->sender(0).commit(8);
  }
}

void last_rank_is_killed(team& team) {
  team.barrier();
  if (team.rank() == last_rank(team)) std::raise(SIGKILL);
  team.barrier();
}

// Rank 0 also hangs, and the end of the run must not wait for rank 0.
void last_rank_throws_another_type(team& team) {
  team.barrier();
  if (team.rank() == last_rank(team)) throw std::runtime_error("this rank fails on purpose");
  if (team.rank() == 0) sleep_long();
  team.barrier();
}

void last_rank_throws_a_number(team& team) {
  team.barrier();
  if (team.rank() == last_rank(team)) throw 42;
  team.barrier();
}

void last_rank_never_frees(team& team) {
  auto memory = team.allocate(100);
  if (team.rank() == last_rank(team)) sleep_long();
  memory.reset();
}

// The last rank stops while memory of an alltoallv is allocated. When the other ranks give up, they
// must not wait until all ranks free that memory.
[[noreturn]] void last_rank_stops_in_alltoallv(team& team) {
  const auto ranks = static_cast<std::size_t>(team.size());
  constexpr std::size_t block_bytes = 300'000;
  const std::vector<std::size_t> counts(ranks, block_bytes);
  const std::vector<std::byte> outgoing(ranks * block_bytes);
  std::vector<std::byte> incoming(outgoing.size());
  team.barrier();
  std::jthread stopping;
  if (team.rank() == last_rank(team))
    stopping = std::jthread([] {
      const timespec soon{0, 300'000'000};
      nanosleep(&soon, nullptr);
      stop();
    });
  for (;;) team.alltoallv(outgoing.data(), counts, incoming.data(), counts, 1);
}

// Rank 0 sends one byte less than all other ranks expect.
void counts_differ(team& team) {
  const auto ranks = static_cast<std::size_t>(team.size());
  constexpr std::size_t block_bytes = 100'000;
  std::vector<std::size_t> outgoing(ranks, block_bytes), incoming(ranks, block_bytes);
  if (team.rank() == 0)
    for (std::size_t rank = 1; rank < ranks; ++rank) --outgoing[rank];
  const std::vector<std::byte> from(ranks * block_bytes);
  std::vector<std::byte> to(ranks * block_bytes);
  team.alltoallv(from.data(), outgoing, to.data(), incoming, 1);
  team.barrier();
}

// The last rank stops. Its neighbour sends more to it than the network can buffer.
void last_rank_stops_and_gets_much_data(team& team) {
  constexpr std::size_t slot_bytes = std::size_t{32} << 20;
  const longshore::channel_end to{(team.rank() + 1) % team.size(), slot_bytes};
  const longshore::channel_end from{(team.rank() + last_rank(team)) % team.size(), slot_bytes};
  const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
  team.barrier();
  if (team.rank() == last_rank(team)) stop();
  for (;;) {
    for (longshore::waiter wait(team, "a free slot", to.peer);
         channels->sender(0).reserve() == nullptr;)
      wait.pause();
    channels->sender(0).commit(slot_bytes);
  }
}

// No failure: the test ends a host while its ranks exchange messages.
[[noreturn]] void all_exchange_for_ever(team& team) {
  const longshore::channel_end to{(team.rank() + 1) % team.size(), 64};
  const longshore::channel_end from{(team.rank() + last_rank(team)) % team.size(), 64};
  const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
  for (long message = 0;; ++message) {
    for (longshore::waiter wait(team, "a free slot", to.peer);
         channels->sender(0).reserve() == nullptr;)
      wait.pause();
    channels->sender(0).commit(8);
    for (longshore::waiter wait(team, "a message", from.peer); !channels->receiver(0).front();)
      wait.pause();
    channels->receiver(0).release();
    if (message % 100 == 0) team.barrier();
    if (message == 1000 && team.rank() == 0) {
      fmt::print("exchanging\n");
      std::fflush(stdout);
    }
  }
}

// A team destroys its attributes after the last collective step of the run.
struct stops_at_the_end {
  bool armed = false;
  ~stops_at_the_end() {
    if (armed) stop();
  }
};

void last_rank_stops_at_the_end(team& team) {
  team.barrier();
  team.attribute<stops_at_the_end>().armed = team.rank() == last_rank(team);
}

// The last rank stops after the run, before the communication library is finalised.
void last_rank_stops_after_the_run() {
  longshore::runtime started(longshore::options_from_environment());
  bool stops = false;
  started.run([&](team& team) { stops = team.rank() == last_rank(team); });
  if (stops) stop();
}

void last_rank_leaves_out_a_barrier(team& team) {
  team.barrier();
  if (team.rank() != last_rank(team)) team.barrier();
}

void last_rank_makes_another_reduction(team& team) {
  team.barrier();
  const auto operation =
      team.rank() == last_rank(team) ? longshore::reduction::min : longshore::reduction::max;
  (void)team.allreduce_value(1.5, operation);
}

void none(team& team) { team.barrier(); }

// No failure: the test inspects connections while all ranks sleep.
[[noreturn]] void all_sleep(const team& team) {
  if (team.rank() == 0) {
    fmt::print("sleeping\n");
    std::fflush(stdout);
  }
  for (;;) sleep_long();
}

[[noreturn]] void all_agree_and_sleep(team& team) {
  const auto ranks = team.allgather_value(team.rank());
  const int sum = team.allreduce_value(ranks.back(), longshore::reduction::sum);
  if (team.broadcast_value(sum, last_rank(team)) != team.size() * last_rank(team))
    longshore::fail(longshore::errc::transport, "wrong sum");
  team.barrier();
  all_sleep(team);
}

[[noreturn]] void all_talk_to_all_and_sleep(team& team) {
  alltoall(team);
  all_sleep(team);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(team&)> failures = {
      {"none", none},
      {"throws", last_rank_throws},
      {"never-comes", last_rank_never_comes},
      {"throws-before-alltoall", last_rank_throws_before_an_alltoall},
      {"never-comes-to-alltoall", last_rank_never_comes_to_an_alltoall},
      {"never-receives", last_rank_never_receives},
      {"killed", last_rank_is_killed},
      {"throws-another-type", last_rank_throws_another_type},
      {"throws-a-number", last_rank_throws_a_number},
      {"never-frees", last_rank_never_frees},
      {"stops-in-alltoallv", last_rank_stops_in_alltoallv},
      {"stops-at-the-end", last_rank_stops_at_the_end},
      {"counts-differ", counts_differ},
      {"leaves-early", last_rank_leaves_out_a_barrier},
      {"another-reduction", last_rank_makes_another_reduction},
      {"much-to-one-that-stops", last_rank_stops_and_gets_much_data},
      {"exchange-for-ever", all_exchange_for_ever},
      {"agree-and-sleep", all_agree_and_sleep},
      {"talk-to-all-and-sleep", all_talk_to_all_and_sleep}};
  const std::string name = argc > 1 ? argv[1] : "", after_the_run = "stops-after-the-run";
  const auto chosen = failures.find(name);
  if (chosen == failures.end() && name != after_the_run) {
    fmt::print(stderr, "usage: failing_program FAILURE, one of {} {}\n",
               fmt::join(std::views::keys(failures), " "), after_the_run);
    return 2;
  }
  try {
    if (name == after_the_run)
      last_rank_stops_after_the_run();
    else
      longshore::run(argc, argv, chosen->second);
  } catch (const longshore::error& e) {
    fmt::print(stderr, "longshore: {}: {}\n", longshore::name_of(e.code()), e.what());
    return 3;
  } catch (const std::exception& e) {
    fmt::print(stderr, "longshore: {}\n", e.what());
    return 3;
  } catch (int) {
    fmt::print(stderr, "longshore: a number was thrown\n");
    return 3;
  }
  return 0;
}
