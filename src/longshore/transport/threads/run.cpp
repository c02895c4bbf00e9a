#include <longshore/core/clock.hpp>
#include <longshore/core/delayed_notice.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/threads/run.hpp>
#include <longshore/transport/threads/team.hpp>

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

namespace longshore::threads {
namespace {

constexpr int most_ranks = 4096;
constexpr int runtime_failure_status = 3;
constexpr int many_ranks_per_core = 16;

struct first_failure {
  int rank, ranks;
  std::exception_ptr why;
};

// Called by the first failed rank. The other ranks end at their next wait. A rank that computes for
// ever, or is stuck in a call of another library, cannot be stopped, and would hide the failure.
// After the grace time this function therefore prints the failure and ends the process.
void wait_for_others_to_end(const std::atomic<int>& running, const first_failure& first,
                            double grace_seconds) {
  const double began = monotonic_seconds();
  while (running.load(std::memory_order_acquire) > 1) {
    if (grace_seconds > 0 && monotonic_seconds() - began > grace_seconds) {
      fmt::print(
          stderr, "longshore: rank {} of {}: {}; {} ranks did not stop within {} s after that\n",
          first.rank, first.ranks, failure_text(first.why), running.load() - 1, grace_seconds);
      std::fflush(nullptr);
      std::_Exit(runtime_failure_status);
    }
    const timespec nap{0, 5'000'000};
    nanosleep(&nap, nullptr);
  }
}

// The notice about a start that takes long; empty if the start is over. The start of few ranks per
// core is over when all have begun: the program may do anything before its first barrier. The start
// of many ranks per core is over when all have passed a barrier.
std::string start_notice(int ranks, int cores, int begun, const detail::node_barrier_state& barrier,
                         double seconds) {
  if (begun < ranks)
    return fmt::format(
        "longshore: starting {} ranks as threads on {} cores: after {:g} s {} of them have begun",
        ranks, cores, seconds, begun);
  if (ranks <= many_ranks_per_core * cores ||
      barrier.generation.load(std::memory_order_acquire) > 0)
    return "";
  return fmt::format(
      "longshore: {} ranks share {} cores as threads: after {:g} s {} of them have come to their "
      "first barrier",
      ranks, cores, seconds, barrier.arrived_ranks());
}

}  // namespace

void run(const run_options& options, const std::function<void(longshore::team&)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  const int cores = usable_cores();
  const int ranks = options.ranks > 0 ? options.ranks : cores;
  if (ranks > most_ranks)
    fail(errc::usage, "{} ranks as threads of one process: at most {} make sense", ranks,
         most_ranks);
  const wait_policy waiting{options.timeout_seconds, ranks <= cores};
  const bool pin = options.pin && ranks <= cores;
  const bool side_by_side = pin && options.compact && ranks < static_cast<int>(cpus.size());
  const std::vector<int> compact =
      side_by_side ? detail::core_order(cpus, topology_of_this_machine()) : std::vector<int>();

  shared_state shared(ranks);
  std::atomic<int> running{ranks}, begun{0};
  const std::vector<int> one_host(static_cast<std::size_t>(ranks), 0);
  const auto run_rank = [&](int rank) {
    try {
      auto share = compact.empty() ? detail::cpu_share(cpus, rank, ranks)
                                   : std::vector{compact[static_cast<std::size_t>(rank)]};
      const pinned binding(pin ? share.front() : -1);
      team mine(shared, rank, node_map(one_host, rank, options.ranks_per_node), waiting,
                std::move(share));
      begun.fetch_add(1, std::memory_order_relaxed);
      body(mine);
      mine.leave();
    } catch (...) {
      const std::exception_ptr why = std::current_exception();
      if (shared.fail(rank, why))
        wait_for_others_to_end(running, {rank, ranks, why}, options.timeout_seconds);
    }
    running.fetch_sub(1, std::memory_order_acq_rel);
  };

  std::vector<std::jthread> others;
  std::optional<delayed_notice> slow_start;
  try {
    if (ranks > cores)
      slow_start.emplace(options.notice_seconds, [&] {
        return start_notice(ranks, cores, begun.load(), shared.barrier, options.notice_seconds);
      });
    for (int rank = 1; rank < ranks; ++rank) others.emplace_back(run_rank, rank);
  } catch (const std::system_error& e) {
    shared.fail(0, std::make_exception_ptr(
                       error(errc::out_of_memory,
                             fmt::format("could not start {} threads: {}", ranks, e.what()))));
  }
  if (static_cast<int>(others.size()) == ranks - 1) run_rank(0);
  others.clear();  // joins
  shared.rethrow();
}

std::shared_ptr<longshore::team> join(const run_options& options) {
  if (options.ranks > 1)
    fail(errc::usage,
         "{} ranks as threads outside of run(): only 1 is possible; several need run() and a body",
         options.ranks);
  struct member {
    explicit member(const run_options& options)
        : mine(shared, 0, node_map(std::array{0}, 0, options.ranks_per_node),
               {options.timeout_seconds, true}, allowed_cpus()) {}
    shared_state shared{1};
    team mine;
  };
  const auto member_of_one = std::make_shared<member>(options);
  return {member_of_one, &member_of_one->mine};
}

}  // namespace longshore::threads
