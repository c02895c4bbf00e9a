// Starts the ranks as threads of this process, and waits for their end. After a failure the other
// ranks get some time to end, and then the process ends.
#include <longshore/core/clock.hpp>
#include <longshore/core/delayed_notice.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/threads/detail/team.hpp>
#include <longshore/transport/threads/run.hpp>

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

constexpr int max_ranks = 4096;
constexpr int many_ranks_per_core = 16;

struct first_failure {
  int rank, ranks;
  std::exception_ptr error;
};

// Called by the first failed rank. The other ranks end at their next wait. A rank that computes for
// ever, or is stuck in a call of another library, cannot be stopped and would hide the failure. So
// after grace_seconds this function prints the failure and ends the process.
void wait_for_others_to_end(const std::atomic<int>& running, const first_failure& first,
                            double grace_seconds) {
  const double began = monotonic_seconds();
  while (running.load(std::memory_order_acquire) > 1) {  // 1 is this rank
    if (grace_seconds > 0 && monotonic_seconds() - began > grace_seconds) {
      fmt::print(
          stderr, "longshore: rank {} of {}: {}; {} ranks did not stop within {} s after that\n",
          first.rank, first.ranks, failure_text(first.error), running.load() - 1, grace_seconds);
      std::fflush(nullptr);
      std::_Exit(runtime_failure_status);
    }
    const timespec nap{0, 5'000'000};
    nanosleep(&nap, nullptr);
  }
}

// The notice about a long start; empty if the start is over. With many ranks per core, the start is
// over when all ranks have passed a barrier. With few ranks per core, the start is over when all
// ranks have begun: a program may do long work before its first barrier.
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

void run(const run_options& given, const std::function<void(longshore::team&)>& body) {
  const run_options options = with_environment(given);
  const std::vector<int> cpus = allowed_cpus();
  const int cores = usable_cores();
  const int ranks = options.ranks > 0 ? options.ranks : cores;
  if (ranks > max_ranks)
    fail(errc::usage, "{} ranks as threads of one process: at most {} make sense", ranks,
         max_ranks);
  const wait_policy waiting{*options.timeout_seconds, ranks <= cores};
  const bool pin = options.pin && ranks <= cores;
  const bool compact = pin && options.compact && ranks < static_cast<int>(cpus.size());
  const std::vector<int> neighbouring_cpus =
      compact ? detail::core_order(cpus, topology_of_this_machine()) : std::vector<int>();

  shared_state shared(ranks);
  std::atomic<int> running{ranks}, begun{0};
  const std::vector<int> one_host(ranks, 0);
  const auto run_rank = [&](int rank) {
    try {
      auto share =
          compact ? std::vector{neighbouring_cpus[rank]} : detail::cpu_share(cpus, rank, ranks);
      const pinned binding(pin ? share.front() : -1);
      team rank_team(shared, rank, node_map(one_host, rank, *options.ranks_per_node), waiting,
                     std::move(share));
      begun.fetch_add(1, std::memory_order_relaxed);
      body(rank_team);
      rank_team.leave();
    } catch (...) {
      const std::exception_ptr failure = std::current_exception();
      if (shared.fail(rank, failure))
        wait_for_others_to_end(running, {rank, ranks, failure}, *options.timeout_seconds);
    }
    running.fetch_sub(1, std::memory_order_acq_rel);
  };

  std::vector<std::jthread> other_ranks;
  std::optional<delayed_notice> slow_start;
  try {
    if (ranks > cores)
      slow_start.emplace(options.notice_seconds, [&] {
        return start_notice(ranks, cores, begun.load(), shared.barrier, options.notice_seconds);
      });
    for (int rank = 1; rank < ranks; ++rank) other_ranks.emplace_back(run_rank, rank);
  } catch (const std::system_error& e) {
    shared.fail(0, std::make_exception_ptr(
                       error(errc::out_of_memory,
                             fmt::format("could not start {} threads: {}", ranks, e.what()))));
  }
  if (static_cast<int>(other_ranks.size()) == ranks - 1) run_rank(0);
  other_ranks.clear();  // joins
  shared.rethrow();
}

std::shared_ptr<longshore::team> join(const run_options& options) {
  if (options.ranks > 1)
    fail(errc::usage,
         "{} ranks as threads outside of run(): only 1 is possible; several need run() and a body",
         options.ranks);
  struct owner {
    explicit owner(const run_options& options)
        : single_rank(shared, 0, node_map(std::array{0}, 0, *options.ranks_per_node),
                      {*options.timeout_seconds, true}, allowed_cpus()) {}
    shared_state shared{1};
    team single_rank;
  };
  const auto made = std::make_shared<owner>(with_environment(options));
  return {made, &made->single_rank};
}

}  // namespace longshore::threads
