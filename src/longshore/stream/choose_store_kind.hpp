// Chooses ordinary or streaming stores for a stream: by size if that is clear, else by measuring
// both.
//
// The usable part of a cache is not known exactly: virtual machines share it, other ranks use it,
// and replacement is not exact. So both kinds are timed on the arrays themselves if the size is
// between a quarter of the caches that the tasks reach and four times as much.
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
  bool measured = false;        ///< false: chosen by size
  std::size_t cache_bytes = 0;  ///< size of the caches that the tasks reach, as the machine reports
};

/// Collective: one allreduce of 16 bytes. Returns which kinds of stores at least one rank considers
/// (indices as in store_kind). A rank considers one kind if the size makes it clear, else both. All
/// ranks get the same result, although their parts of an array and their caches may differ.
[[nodiscard]] inline std::array<bool, 2> possible_store_kinds(team& ranks,
                                                              std::size_t bytes_of_machine,
                                                              std::size_t cache_bytes,
                                                              std::size_t doubtful = 4) {
  const bool ordinary = bytes_of_machine / doubtful <= cache_bytes,
             streaming = bytes_of_machine >= cache_bytes / doubtful;
  std::array<std::int64_t, 2> possible{ordinary ? 1 : 0, streaming ? 1 : 0};
  ranks.allreduce(possible, reduction::max);
  return {possible[0] != 0, possible[1] != 0};
}

/// Collective. Chooses the kind of stores and sets it in `loops`; the choice is the same on all
/// ranks. `bytes_of_machine` are the bytes that all ranks of this machine read and write in one
/// run; `tasks_of_machine` tasks run there at the same time. Both may differ between ranks. If one
/// rank needs a measurement, all ranks measure: some tens of runs, of at most 20 ms. Streaming
/// stores win a tie, because they leave the caches to others.
template <class Arrays>
store_choice choose_store_kind(team& ranks, stream<Arrays>& loops, std::size_t bytes_of_machine,
                               int tasks_of_machine) {
  constexpr int tries = 7;
  constexpr double tie = 1.03, shortest_seconds = 5e-4;
  constexpr std::array kinds = {store_kind::ordinary, store_kind::streaming};
  store_choice choice{.cache_bytes = reached_cache_bytes(tasks_of_machine)};
  const auto [ordinary, streaming] =
      possible_store_kinds(ranks, bytes_of_machine, choice.cache_bytes);
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
        loops.set_stores(kind);
        loops.run();  // brings the caches into the state that this kind leaves
        double& seconds = best[static_cast<std::size_t>(kind)];
        seconds = std::min(seconds, timed(runs));
        if (i == 0) runs = std::clamp(static_cast<int>(shortest_seconds / seconds), runs, 64);
      }
    choice.measured = true;
    choice.kind = best[0] * tie < best[1] ? store_kind::ordinary : store_kind::streaming;
  }
  loops.set_stores(choice.kind);
  return choice;
}

}  // namespace longshore
