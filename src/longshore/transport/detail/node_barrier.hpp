// The barrier of one node, in shared memory. It also compares the collective calls of the ranks.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/waiter.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace longshore::detail {

/// The state of the barrier, in memory that all ranks of the node share. Initially all bytes are
/// zero.
struct node_barrier_state {
  static constexpr int rank_bits = 16;
  /// Number of ranks that have arrived at the current barrier.
  [[nodiscard]] int arrived_ranks() const noexcept {
    return static_cast<int>(arrived.load(std::memory_order_acquire) & ((1u << rank_bits) - 1));
  }

  /// the lower 16 bits count the ranks; the upper bits are the sum of their calls' fingerprints
  alignas(interference_bytes) std::atomic<std::uint64_t> arrived;
  alignas(interference_bytes) std::atomic<std::uint32_t> generation;
  /// whether the last generation has a mismatch; in the cache line that all ranks read anyway
  std::uint32_t has_mismatch;
  call_mismatch mismatch;
  /// a rank has left a barrier by an exception, so `arrived` is no longer reliable
  std::atomic<std::uint32_t> abandoned;
};

/// The place in which a rank posts its calls for others to read. Calls with even and with odd
/// numbers have separate entries, so that a rank can post its next call while others still read
/// the last one. Initially all bytes are zero.
struct alignas(interference_bytes) call_slot {
  std::array<posted_call, 2> posted;
};

/// One rank's handle of the state. A counting barrier: all ranks write one cache line, the counter,
/// and read another, the generation. Up to about a hundred ranks per node it is as fast as a tree.
/// With more ranks than cores it is the fastest, because each rank is woken once.
///
/// Invariant of the comparison: if all calls are equal, the sum of their fingerprints is the number
/// of ranks times one fingerprint. The instruction that counts a rank also adds its fingerprint.
/// The posted calls are read only if the sum differs. So the comparison costs each rank one store
/// to a cache line of its own.
class node_barrier {
 public:
  /// slots[i] belongs to the i-th rank of the node. The first rank is the leader. At most 65535
  /// ranks.
  node_barrier(node_barrier_state* state, call_slot* slots, int ranks, int local_index)
      : state_(state), slots_(slots), ranks_(ranks), local_index_(local_index) {}

  /// Waits for all ranks of the node. When all have arrived, the leader calls
  /// `between_nodes(call_mismatch&)`, which may detect a mismatch with another node. Then all ranks
  /// may leave. Throws errc::usage on all ranks of the node if there is a mismatch.
  template <class Between>
  void wait(team& team, const collective_call& call, const Between& between_nodes) {
    try {
      synchronise(team, call, between_nodes);
    } catch (...) {
      state_->abandoned.store(1, std::memory_order_release);
      throw;
    }
    if (state_->has_mismatch != 0) [[unlikely]]
      state_->mismatch.throw_error();
  }

  /// The last call of a run on one node: the leader waits for the other ranks, without a deadline;
  /// they do not wait. Throws errc::usage, on the leader only, if a rank makes another call. Does
  /// not wait if a rank has left a barrier by an exception.
  void leave(team& team, const collective_call& call) {
    const auto abandoned = [this] {
      return state_->abandoned.load(std::memory_order_acquire) != 0;
    };
    if (abandoned()) return;
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ != 0) return;
    while (!all_arrived()) {
      if (abandoned()) return;
      team.progress();
      const timespec nap{0, 50'000};
      nanosleep(&nap, nullptr);
    }
    if (abandoned() || all_agree(fingerprint)) return;
    call_mismatch mismatch;
    find(mismatch);
    mismatch.throw_error();
  }

  /// The call that this rank has posted last.
  [[nodiscard]] const posted_call& posted() const noexcept {
    return slots_[local_index_].posted[calls_ & 1];
  }
  /// The offset, in the slot of any rank, of the call posted for the current barrier.
  [[nodiscard]] std::size_t offset_in_slot() const noexcept {
    return (calls_ & 1) * sizeof(posted_call);
  }

 private:
  static constexpr int rank_bits = node_barrier_state::rank_bits;

  template <class Between>
  void synchronise(team& team, const collective_call& call, const Between& between_nodes) {
    const std::uint32_t mine = state_->generation.load(std::memory_order_relaxed);
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ == 0) {
      for (waiter wait(team, name_of(call.kind)); !all_arrived(); wait.pause()) {
      }
      call_mismatch mismatch;
      if (!all_agree(fingerprint)) find(mismatch);
      between_nodes(mismatch);
      if (mismatch.found) state_->mismatch = mismatch;
      state_->has_mismatch = mismatch.found ? 1 : 0;
      state_->arrived.store(0, std::memory_order_relaxed);
      state_->generation.store(mine + 1, std::memory_order_release);
    } else {
      for (waiter wait(team, name_of(call.kind));
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
  void find(call_mismatch& mismatch) const noexcept {
    for (int i = 1; i < ranks_; ++i) mismatch.compare(posted(), slots_[i].posted[calls_ & 1]);
  }

  node_barrier_state* state_;
  call_slot* slots_;
  int ranks_, local_index_;
  std::uint64_t calls_ = 0;
};

}  // namespace longshore::detail
