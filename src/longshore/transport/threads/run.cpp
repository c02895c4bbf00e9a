#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/cpu_share.hpp>
#include <longshore/transport/threads/run.hpp>
#include <longshore/transport/threads/team.hpp>

#include <optional>
#include <system_error>
#include <thread>

namespace longshore::threads {
namespace {

constexpr int most_ranks = 4096;

}  // namespace

void run(const run_options& options, const std::function<void(longshore::team&)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  const int cores = usable_cores();
  const int ranks = options.ranks > 0 ? options.ranks : cores;
  if (ranks > most_ranks) fail(errc::usage, "{} ranks as threads of one process: at most {} make sense", ranks, most_ranks);
  const wait_policy waiting{options.timeout_seconds, ranks <= cores};
  const bool pin = options.pin && ranks <= cores;

  world world(ranks);
  const std::vector<int> one_host(static_cast<std::size_t>(ranks), 0);
  const auto run_rank = [&](int rank) {
    try {
      auto share = cpu_share(cpus, rank, ranks);
      const pinned binding(pin ? share.front() : -1);
      team mine(world, rank, node_map(one_host, rank, options.ranks_per_node), waiting, std::move(share));
      body(mine);
    } catch (...) {
      world.fail(rank, std::current_exception());
    }
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

}  // namespace longshore::threads
