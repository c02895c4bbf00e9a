// The part of a barrier that happens in memory: all ranks of one node meet at a counter.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/waiter.hpp>

#include <atomic>
#include <cstdint>

namespace longshore {

/// Lies in memory that all ranks of the node share; all bytes zero is its initial state.
struct node_barrier_state {
  alignas(interference_bytes) std::atomic<std::uint32_t> arrived;
  alignas(interference_bytes) std::atomic<std::uint32_t> generation;
};

/// One rank's handle on the state. A counting barrier: one line written by every rank, another read by all. For up to some
/// hundred ranks of a node that is as fast as a tree, and with more ranks than cores it is the fastest: one wake-up per rank.
class node_barrier {
 public:
  node_barrier(node_barrier_state* state, int ranks) : state_(state), ranks_(static_cast<std::uint32_t>(ranks)) {}

  /// Waits for all ranks of the node. `between_nodes` is called by the one rank that passes `leader`, when all have arrived and
  /// before any is let go. `operation` is what a timeout names (a literal).
  template <class Between>
  void wait(team& team, bool leader, const Between& between_nodes, const char* operation = "a barrier") {
    const std::uint32_t mine = state_->generation.load(std::memory_order_relaxed);
    state_->arrived.fetch_add(1, std::memory_order_acq_rel);
    if (leader) {
      for (waiter wait(team, operation); state_->arrived.load(std::memory_order_acquire) != ranks_; wait.pause()) {
      }
      between_nodes();
      state_->arrived.store(0, std::memory_order_relaxed);
      state_->generation.store(mine + 1, std::memory_order_release);
    } else {
      for (waiter wait(team, operation); state_->generation.load(std::memory_order_acquire) == mine; wait.pause()) {
      }
    }
  }

 private:
  node_barrier_state* state_;
  std::uint32_t ranks_;
};

}  // namespace longshore
