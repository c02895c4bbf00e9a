// A program that goes wrong on purpose, in the way its first argument names; tests/test_failures.py looks at how it ends.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <string>

namespace {

using longshore::team;

int last(const team& team) { return team.size() - 1; }

void sleep_long() {
  const timespec long_time{1000, 0};
  nanosleep(&long_time, nullptr);
}

void one_throws(team& team) {
  team.barrier();
  if (team.rank() == last(team)) longshore::fail(longshore::errc::usage, "this rank fails on purpose");
  team.barrier();
}

void one_never_comes(team& team) {
  team.barrier();
  if (team.rank() == last(team)) sleep_long();
  team.barrier();
}

void one_never_receives(team& team) {
  const longshore::channel_end to{(team.rank() + 1) % team.size(), 64};
  const longshore::channel_end from{(team.rank() + last(team)) % team.size(), 64};
  const auto channels = team.open_channels({&to, 1}, {&from, 1}, 2);
  for (int message = 0; message < 10; ++message) {
    longshore::waiter wait(team, "a free slot", to.peer);
    while (channels->sender(0).reserve() == nullptr) wait.pause();
    channels->sender(0).commit(8);
  }
}

void one_is_killed(team& team) {
  team.barrier();
  if (team.rank() == last(team)) std::raise(SIGKILL);
  team.barrier();
}

void none(team& team) { team.barrier(); }

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(team&)> ways = {{"none", none},
                                                       {"throws", one_throws},
                                                       {"never-comes", one_never_comes},
                                                       {"never-receives", one_never_receives},
                                                       {"killed", one_is_killed}};
  const auto way = ways.find(argc > 1 ? argv[1] : "");
  if (way == ways.end()) {
    fmt::print(stderr, "which way to fail? {}\n", "none throws never-comes never-receives killed");
    return 2;
  }
  try {
    longshore::run(argc, argv, way->second);
  } catch (const longshore::error& e) {
    fmt::print(stderr, "longshore: {}: {}\n", longshore::name_of(e.code()), e.what());
    return 3;
  }
  return 0;
}
