// Which stores a stream is to use: by size where that is clear, by trying both where it is not.
//
// What a cache holds is not what the processor's data sheet says: virtual machines share it, other
// ranks use it, and replacement is not exact. So between a quarter of the caches that the tasks
// reach and four times as much, both kinds are timed on the arrays themselves.
#pragma once

#include <longshore/stream/stream.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace longshore {

struct stores_choice {
  store_kind kind = store_kind::ordinary;
  bool measured = false;        ///< else decided by size
  std::size_t cache_bytes = 0;  ///< that the tasks reach, as the machine says
};

/// Collective: one allreduce of 16 bytes. Which kinds of stores any rank would take: by size where
/// that is clear, both where it is not. Ranks differ in what they have of an array, and hosts in
/// their caches; so none decides by itself.
[[nodiscard]] inline std::array<bool, 2> possible_stores(team& ranks, std::size_t bytes_of_machine,
                                                         std::size_t cache_bytes,
                                                         std::size_t doubtful = 4) {
  const bool ordinary = bytes_of_machine / doubtful <= cache_bytes,
             streaming = bytes_of_machine >= cache_bytes / doubtful;
  std::array<std::int64_t, 2> possible{ordinary ? 1 : 0, streaming ? 1 : 0};
  ranks.allreduce(possible, reduction::max);
  return {possible[0] != 0, possible[1] != 0};
}

/// Collective; the choice is the same on all ranks, and `loops` uses it from now on.
/// `bytes_of_machine` are read and written by all ranks of a machine in one run, `tasks_of_machine`
/// run at the same time there; both may differ between ranks. Where it measures, which all ranks do
/// when one would: some tens of runs, at most 20 ms of them. Streaming stores win a tie: they leave
/// the caches to others.
template <class Arrays>
stores_choice choose_stores(team& ranks, stream<Arrays>& loops, std::size_t bytes_of_machine,
                            int tasks_of_machine) {
  constexpr int tries = 7;
  constexpr double tie = 1.03, shortest_seconds = 5e-4;
  constexpr std::array kinds = {store_kind::ordinary, store_kind::streaming};
  stores_choice choice{.cache_bytes = reached_cache_bytes(tasks_of_machine)};
  const auto [ordinary, streaming] = possible_stores(ranks, bytes_of_machine, choice.cache_bytes);
  if (!ordinary || !streaming) {
    choice.kind = streaming ? store_kind::streaming : store_kind::ordinary;
  } else {
    const auto timed = [&](int runs) {
      ranks.barrier();
      const double start = ranks.now();
      for (int i = 0; i < runs; ++i) loops.run();
      return ranks.allreduce_value(ranks.now() - start, reduction::max) / runs;
    };
    std::array<double, 2> best{};
    best.fill(std::numeric_limits<double>::infinity());
    int runs = 1;
    for (int i = 0; i < tries; ++i)
      for (const auto kind : kinds) {
        loops.store_with(kind);
        loops.run();  // finds the caches as this kind leaves them
        double& seconds = best[static_cast<std::size_t>(kind)];
        seconds = std::min(seconds, timed(runs));
        if (i == 0) runs = std::clamp(static_cast<int>(shortest_seconds / seconds), runs, 64);
      }
    choice.measured = true;
    choice.kind = best[0] * tie < best[1] ? store_kind::ordinary : store_kind::streaming;
  }
  loops.store_with(choice.kind);
  return choice;
}

}  // namespace longshore
