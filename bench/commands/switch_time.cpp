// Ranks 0 and 1 bind themselves to one CPU, and answer each other through a word of shared memory.
// Each yields the core until it sees the answer, as a wait does if ranks share cores.
#include "commands/switch_time.hpp"

#include <longshore/machine/affinity.hpp>

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace longshore::bench {
namespace {

constexpr std::uint64_t rounds = 4000;
constexpr int repetitions = 5;

}  // namespace

double measure_core_switch(team& team) {
  const bool takes_part = team.rank() < 2;
  if (team.size() < 2 || team.costs() != nullptr) return 0;
  const auto memory = team.allocate(sizeof(std::uint64_t));
  const int cpu = team.broadcast_value(allowed_cpus().front());
  std::optional<pinned> binding;
  if (takes_part) binding.emplace(cpu);
  const bool is_ready =
      !takes_part || (allowed_cpus() == std::vector{cpu} && memory->direct(0) != nullptr);
  if (team.allreduce_value(is_ready ? 1 : 0, reduction::min) == 0) return 0;

  std::array<double, repetitions> seconds{};
  for (int i = 0; i < repetitions; ++i) {
    team.barrier();
    if (!takes_part) continue;
    const std::atomic_ref turn(*reinterpret_cast<std::uint64_t*>(memory->direct(0)));
    const auto me = static_cast<std::uint64_t>(team.rank());
    const std::uint64_t first = 2 * rounds * static_cast<std::uint64_t>(i);
    const double start = team.now();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t mine = first + 2 * round + me;
      while (turn.load(std::memory_order_acquire) != mine) sched_yield();
      turn.store(mine + 1, std::memory_order_release);
    }
    seconds[static_cast<std::size_t>(i)] = (team.now() - start) / (2.0 * rounds);
  }
  team.barrier();
  std::nth_element(seconds.begin(), seconds.begin() + repetitions / 2, seconds.end());
  return seconds[repetitions / 2];
}

}  // namespace longshore::bench
