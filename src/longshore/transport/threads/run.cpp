#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/cpu_share.hpp>
#include <longshore/transport/threads/run.hpp>
#include <longshore/transport/threads/team.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <system_error>
#include <thread>

namespace longshore::threads {
namespace {

constexpr int most_ranks = 4096;
constexpr int runtime_failure_status = 3;

// A thread cannot be stopped from outside. Once a rank has failed, the others end at their next wait; one that computes for ever,
// or is stuck in a call of somebody else's, would keep the failure from ever being told: then the process ends here.
void wait_for_others_to_end(const std::atomic<int>& running, const std::string& why, double grace_seconds) {
  const double began = monotonic_seconds();
  while (running.load(std::memory_order_acquire) > 1) {
    if (grace_seconds > 0 && monotonic_seconds() - began > grace_seconds) {
      fmt::print(stderr, "longshore: {}; {} ranks did not stop within {} s after that\n", why, running.load() - 1, grace_seconds);
      std::fflush(nullptr);
      std::_Exit(runtime_failure_status);
    }
    const timespec nap{0, 5'000'000};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace

void run(const run_options& options, const std::function<void(longshore::team&)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  const int cores = usable_cores();
  const int ranks = options.ranks > 0 ? options.ranks : cores;
  if (ranks > most_ranks) fail(errc::usage, "{} ranks as threads of one process: at most {} make sense", ranks, most_ranks);
  const wait_policy waiting{options.timeout_seconds, ranks <= cores};
  const bool pin = options.pin && ranks <= cores;
  const bool side_by_side = pin && options.compact && ranks < static_cast<int>(cpus.size());
  const std::vector<int> compact = side_by_side ? core_order(cpus, topology_of_this_machine()) : std::vector<int>();

  world world(ranks);
  std::atomic<int> running{ranks};
  const std::vector<int> one_host(static_cast<std::size_t>(ranks), 0);
  const auto run_rank = [&](int rank) {
    const auto failed = [&](const std::string& why) {
      if (world.fail(rank, std::current_exception())) wait_for_others_to_end(running, why, options.timeout_seconds);
    };
    try {
      auto share = compact.empty() ? cpu_share(cpus, rank, ranks) : std::vector{compact[static_cast<std::size_t>(rank)]};
      const pinned binding(pin ? share.front() : -1);
      team mine(world, rank, node_map(one_host, rank, options.ranks_per_node), waiting, std::move(share));
      body(mine);
    } catch (const error& e) {
      failed(fmt::format("{}: {}", name_of(e.code()), e.what()));
    } catch (const std::exception& e) {
      failed(e.what());
    } catch (...) {
      failed("a rank threw what is no std::exception");
    }
    running.fetch_sub(1, std::memory_order_acq_rel);
  };

  std::vector<std::jthread> others;
  try {
    for (int rank = 1; rank < ranks; ++rank) others.emplace_back(run_rank, rank);
  } catch (const std::system_error& e) {
    world.fail(
        0, std::make_exception_ptr(error(errc::out_of_memory, fmt::format("could not start {} threads: {}", ranks, e.what()))));
  }
  if (static_cast<int>(others.size()) == ranks - 1) run_rank(0);
  others.clear();  // joins
  world.rethrow();
}

std::shared_ptr<longshore::team> alone(const run_options& options) {
  if (options.ranks > 1)
    fail(errc::usage, "{} ranks as threads outside of run(): one, or give run() what they are to do", options.ranks);
  struct member {
    explicit member(const run_options& options)
        : mine(everybody, 0, node_map(std::array{0}, 0, options.ranks_per_node), {options.timeout_seconds, true},
               allowed_cpus()) {}
    world everybody{1};
    team mine;
  };
  const auto member_of_one = std::make_shared<member>(options);
  return {member_of_one, &member_of_one->mine};
}

}  // namespace longshore::threads
