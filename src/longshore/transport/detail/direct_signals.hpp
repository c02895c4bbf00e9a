// Two ranks of a node synchronise by these counters when one rank reads memory of the other rank.
// Each rank polls counters in its own memory, into which the other rank writes. So no rank polls
// memory that another rank may have freed.
#pragma once

#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/team.hpp>

#include <atomic>
#include <cstdint>

namespace longshore::detail {

/// The counters by which one rank signals another in one round. Exchanges are numbered from 1.
struct alignas(128) direct_signals {
  std::atomic<std::uint64_t> ready;  ///< the latest exchange in which the writer's cells are ready
  std::atomic<std::uint64_t> taken;  ///< the latest exchange in which the writer has read all cells
  /// How often the writer has bound its memories to other addresses. Valid together with `ready`.
  std::atomic<std::uint64_t> binding;
  std::atomic<std::uint64_t> line_probe;  ///< by which ranks measure the distance of their caches
  /// For fields in device memory: the events of the writer after which `ready` and `taken` hold, for
  /// a reader in the same process.
  std::atomic<const void*> ready_event, taken_event;
  /// 1 if the writer uses no memory and no event of the reader any more.
  std::atomic<std::uint64_t> closed;
};

/// Call this before each poll of signals: where time is computed, earlier events must happen first.
inline void before_polls(team& ranks) {
  if (ranks.costs() != nullptr) [[unlikely]]
    ranks.costs()->poll();
}
/// Stores the number of an exchange to a counter that `peer` polls.
inline void signal(team& ranks, std::atomic<std::uint64_t>& counter, std::uint64_t value,
                   int peer) {
  if (ranks.costs() == nullptr) [[likely]]
    counter.store(value, std::memory_order_release);
  else
    ranks.costs()->store(counter, value, peer);
}

}  // namespace longshore::detail
