// Chooses ordinary or streaming stores for a stream. The size of the arrays decides, unless it is
// between a quarter and four times the size of the caches that the tasks reach. Between these
// sizes, both kinds of stores are timed on the arrays. The usable part of a cache is not known
// exactly, because virtual machines and other ranks share the cache, and replacement is not exact.
#pragma once

#include <longshore/stream/stream.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace longshore {

struct store_choice {
  store_kind kind = store_kind::ordinary;
  bool measured = false;        ///< if false, the size decided
  std::size_t cache_bytes = 0;  ///< size of the caches that the tasks reach, as the machine reports
};

/// Collective: one allreduce of 16 bytes. Returns for each store_kind whether it is possible on at
/// least one rank. On one rank, ordinary stores are excluded only if the size is more than
/// `doubtful_factor` times that of the caches, and streaming stores only if the caches are more
/// than `doubtful_factor` times the size. All ranks get the same result, although their parts of an
/// array and their caches may differ.
[[nodiscard]] inline std::array<bool, 2> possible_store_kinds(team& ranks,
                                                              std::size_t bytes_of_machine,
                                                              std::size_t cache_bytes,
                                                              std::size_t doubtful_factor = 4) {
  const bool ordinary = bytes_of_machine / doubtful_factor <= cache_bytes,
             streaming = bytes_of_machine >= cache_bytes / doubtful_factor;
  std::array<std::int64_t, 2> possible{ordinary ? 1 : 0, streaming ? 1 : 0};
  ranks.allreduce(possible, reduction::max);
  return {possible[0] != 0, possible[1] != 0};
}

/// Collective. Chooses the kind of stores for `loops`, the same on all ranks. All ranks of this
/// machine together read and write `bytes_of_machine` in one run, with `tasks_of_machine` tasks.
/// These two numbers may differ between machines. If one rank needs a measurement, all ranks
/// measure: some tens of runs, of at most 20 ms. Streaming stores win a tie, because they leave the
/// caches to other data.
template <class Arrays>
store_choice choose_store_kind(team& ranks, stream<Arrays>& loops, std::size_t bytes_of_machine,
                               int tasks_of_machine) {
  constexpr int tries = 7;
  constexpr double tie_factor = 1.03, min_seconds = 5e-4;
  constexpr std::array kinds = {store_kind::ordinary, store_kind::streaming};
  store_choice choice{.cache_bytes = reached_cache_bytes(tasks_of_machine)};
  const auto [ordinary_possible, streaming_possible] =
      possible_store_kinds(ranks, bytes_of_machine, choice.cache_bytes);
  if (!ordinary_possible || !streaming_possible) {
    choice.kind = streaming_possible ? store_kind::streaming : store_kind::ordinary;
  } else {
    const auto seconds_per_run = [&](int runs) {
      ranks.barrier();
      const double start = ranks.now();
      for (int i = 0; i < runs; ++i) loops.run();
      return ranks.allreduce_value(ranks.now() - start, reduction::max) / runs;
    };
    std::array<double, 2> best{};
    best.fill(std::numeric_limits<double>::infinity());
    // The first try of each kind finds how many runs, at most 64, take about min_seconds together.
    int runs = 1;
    for (int i = 0; i < tries; ++i)
      for (const auto kind : kinds) {
        loops.set_stores(kind);
        loops.run();  // brings the caches into the state after stores of this kind
        double& seconds = best[static_cast<std::size_t>(kind)];
        seconds = std::min(seconds, seconds_per_run(runs));
        if (i == 0) runs = std::clamp(static_cast<int>(min_seconds / seconds), runs, 64);
      }
    choice.measured = true;
    const double ordinary_seconds = best[static_cast<std::size_t>(store_kind::ordinary)],
                 streaming_seconds = best[static_cast<std::size_t>(store_kind::streaming)];
    choice.kind = ordinary_seconds * tie_factor < streaming_seconds ? store_kind::ordinary
                                                                    : store_kind::streaming;
  }
  loops.set_stores(choice.kind);
  return choice;
}

}  // namespace longshore
