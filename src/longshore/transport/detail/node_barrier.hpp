// The part of a barrier that happens in memory: all ranks of one node meet at a counter, and learn
// whether all are in the same collective call.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/waiter.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace longshore::detail {

/// Lies in memory that all ranks of the node share; all bytes zero is its initial state.
struct node_barrier_state {
  static constexpr int rank_bits = 16;
  /// How many ranks have come to the barrier that is going on.
  [[nodiscard]] int arrived_ranks() const noexcept {
    return static_cast<int>(arrived.load(std::memory_order_acquire) & ((1u << rank_bits) - 1));
  }

  /// ranks, and above 16 bits the sum of their fingerprints
  alignas(interference_bytes) std::atomic<std::uint64_t> arrived;
  alignas(interference_bytes) std::atomic<std::uint32_t> generation;
  /// whether `found` holds for the last generation; on the line that all read anyway
  std::uint32_t disagreed;
  disagreement found;
  /// a rank has left a barrier by an exception: who is there can no longer be counted
  std::atomic<std::uint32_t> given_up;
};

/// Where a rank posts its calls for others to read: those with an even and those with an odd
/// number, since who reads the last one may be behind a rank that is in the next. All bytes zero is
/// its initial state.
struct alignas(interference_bytes) call_slot {
  std::array<posted_call, 2> posted;
};

/// One rank's handle on the state. A counting barrier: one line written by every rank, another read
/// by all. For up to some hundred ranks of a node that is as fast as a tree, and with more ranks
/// than cores it is the fastest: one wake-up per rank.
///
/// The comparison of calls costs a store to a line of the rank's own: the fingerprints of the calls
/// are added up by the same instruction that counts the ranks, and the calls themselves are read
/// when the sum is not what equal calls give.
class node_barrier {
 public:
  /// slots[i] is that of the i-th rank of the node; the first rank leads. At most 65535 ranks.
  node_barrier(node_barrier_state* state, call_slot* slots, int ranks, int local_index)
      : state_(state), slots_(slots), ranks_(ranks), local_index_(local_index) {}

  /// Waits for all ranks of the node. `between_nodes(disagreement&)` is called by the first rank of
  /// the node, when all have arrived and before any is let go; it may find a disagreement with
  /// another node. Throws errc::usage on all ranks of the node when there is one.
  template <class Between>
  void wait(team& team, const collective_call& call, const Between& between_nodes) {
    try {
      meet(team, call, between_nodes);
    } catch (...) {
      state_->given_up.store(1, std::memory_order_release);
      throw;
    }
    if (state_->disagreed != 0) [[unlikely]]
      state_->found.report();
  }

  /// The last call of a run on one node: the first rank waits for the others, without a deadline,
  /// and they do not wait. Throws errc::usage, on the first rank alone, when a rank is in another
  /// call. Nobody waits after a rank has left a barrier by an exception.
  void leave(team& team, const collective_call& call) {
    const auto given_up = [this] { return state_->given_up.load(std::memory_order_acquire) != 0; };
    if (given_up()) return;
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ != 0) return;
    while (!all_arrived()) {
      if (given_up()) return;
      team.attend();
      const timespec nap{0, 50'000};
      nanosleep(&nap, nullptr);
    }
    if (given_up() || all_agree(fingerprint)) return;
    disagreement found;
    find(found);
    found.report();
  }

  /// What this rank has posted last.
  [[nodiscard]] const posted_call& posted() const noexcept {
    return slots_[local_index_].posted[calls_ & 1];
  }
  /// Where in the slot of another rank the call is that it has posted for the same barrier.
  [[nodiscard]] std::size_t offset_in_slot() const noexcept {
    return (calls_ & 1) * sizeof(posted_call);
  }

 private:
  static constexpr int rank_bits = node_barrier_state::rank_bits;

  template <class Between>
  void meet(team& team, const collective_call& call, const Between& between_nodes) {
    const std::uint32_t mine = state_->generation.load(std::memory_order_relaxed);
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ == 0) {
      for (waiter wait(team, name_of(call.what)); !all_arrived(); wait.pause()) {
      }
      disagreement found;
      if (!all_agree(fingerprint)) find(found);
      between_nodes(found);
      if (found.found) state_->found = found;
      state_->disagreed = found.found ? 1 : 0;
      state_->arrived.store(0, std::memory_order_relaxed);
      state_->generation.store(mine + 1, std::memory_order_release);
    } else {
      for (waiter wait(team, name_of(call.what));
           state_->generation.load(std::memory_order_acquire) == mine; wait.pause()) {
      }
    }
  }

  std::uint64_t arrive(team& team, const collective_call& call) {
    ++calls_;
    slots_[local_index_].posted[calls_ & 1] = {call, team.rank(), calls_};
    const std::uint64_t fingerprint = call.fingerprint();
    state_->arrived.fetch_add(fingerprint << rank_bits | 1, std::memory_order_acq_rel);
    return fingerprint;
  }
  [[nodiscard]] bool all_arrived() const noexcept { return state_->arrived_ranks() == ranks_; }
  [[nodiscard]] bool all_agree(std::uint64_t fingerprint) const noexcept {
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    return state_->arrived.load(std::memory_order_relaxed) ==
           (fingerprint * ranks << rank_bits) + ranks;
  }
  void find(disagreement& found) const noexcept {
    for (int i = 1; i < ranks_; ++i) found.compare(posted(), slots_[i].posted[calls_ & 1]);
  }

  node_barrier_state* state_;
  call_slot* slots_;
  int ranks_, local_index_;
  std::uint64_t calls_ = 0;
};

}  // namespace longshore::detail
