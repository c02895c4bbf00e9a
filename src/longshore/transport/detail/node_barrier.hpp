// The barrier between the ranks of one node: a counter in memory that these ranks share. The
// barrier also finds out whether all ranks make the same collective call. Several transports use it
// within a node. So does mpi, because MPI_Barrier has no deadline.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/waiter.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace longshore::detail {

/// The state of the barrier, in memory that all ranks of the node share. All bytes must be zero at
/// first.
struct node_barrier_state {
  static constexpr int rank_bits = 16;
  /// Number of ranks that are at the current barrier.
  [[nodiscard]] int arrived_ranks() const noexcept {
    return static_cast<int>(arrived.load(std::memory_order_acquire) & ((1u << rank_bits) - 1));
  }

  /// The lower 16 bits count the ranks; the upper bits are the sum of the fingerprints of their
  /// calls.
  alignas(interference_bytes) std::atomic<std::uint64_t> arrived;
  alignas(interference_bytes) std::atomic<std::uint32_t> generation;
  /// Whether the last barrier found a mismatch. The flag is in the cache line of `generation`,
  /// which all ranks read anyway.
  /// The leader writes the flag and `mismatch` before it advances `generation`, and ranks read them
  /// after they have seen the new generation. So neither of the two needs to be atomic.
  std::uint32_t has_mismatch;
  call_mismatch mismatch;
  /// Whether a rank has left a barrier by an exception. Then `arrived` may be wrong.
  std::atomic<std::uint32_t> abandoned;
};

/// Where a rank posts its calls for other ranks to read. Calls with even and with odd numbers have
/// separate entries, so that a rank can post its next call while other ranks still read its last
/// call.
/// All bytes must be zero at first.
struct alignas(interference_bytes) call_slot {
  std::array<posted_call, 2> posted;
};

/// One rank's handle of the barrier. All ranks write to one cache line, the counter, and read
/// another cache line, the generation. Each rank waits only once per barrier. This matters if there
/// are more ranks than cores, because a rank that waits may also have to wait for a core.
///
/// Comparison of the calls: the instruction that counts a rank also adds the fingerprint of its
/// call. If the sum of the fingerprints is not the number of ranks times the fingerprint of the
/// leader's call, the calls differ. The leader then reads the posted calls to find the difference.
/// If the sum is this product, the barrier takes the calls as equal (for the probability of an
/// error, see collective_call::fingerprint()). So the comparison costs each rank one store to its
/// own cache line.
///
/// Memory order: each rank posts its call before it adds to `arrived` (release), and the leader
/// reads `arrived` (acquire) before it reads posted calls. The leader writes all results of the
/// barrier before it advances `generation` (release), and the other ranks read `generation`
/// (acquire) before they read the results.
class node_barrier {
 public:
  /// slots[i] belongs to the i-th rank of the node. The first rank of the node is the leader. At
  /// most 65535 ranks.
  node_barrier(node_barrier_state* state, call_slot* slots, int ranks, int local_index)
      : state_(state), slots_(slots), ranks_(ranks), local_index_(local_index) {}

  /// Waits for all ranks of the node. When all have arrived, the leader calls
  /// `between_nodes(call_mismatch&)`, which may find a mismatch with another node. Then all ranks
  /// leave. If there is a mismatch, all ranks of the node throw errc::usage.
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

  /// The last call of a run on one node. Only the leader waits for the other ranks, without a
  /// deadline. Throws errc::usage, on the leader only, if a rank makes a different call. Does not
  /// wait if a rank has left a barrier by an exception.
  ///
  /// The other ranks need not wait, because no call may follow and nobody resets `arrived` any
  /// more. A rank that makes another call arrives too, so the leader stops waiting and finds the
  /// difference. A rank that left by an exception may be counted for a barrier that never ended. In
  /// that case the sum of fingerprints in `arrived` means nothing, so the leader checks `abandoned`
  /// first. REQUIRES: the shared memory outlives the call of the leader.
  void leave(team& team, const collective_call& call) {
    const auto abandoned = [this] {
      return state_->abandoned.load(std::memory_order_acquire) != 0;
    };
    if (abandoned()) return;
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ != 0) return;
    while (!all_arrived()) {
      if (abandoned()) return;
      team.progress();  // throws if another rank has failed
      nanosleep(&leader_nap, nullptr);
    }
    if (abandoned() || all_agree(fingerprint)) return;
    call_mismatch mismatch;
    find_mismatch(mismatch);
    mismatch.throw_error();
  }

  /// The last call that this rank has posted.
  [[nodiscard]] const posted_call& posted() const noexcept {
    return slots_[local_index_].posted[calls_ & 1];
  }
  /// The offset, in every rank's slot, of the call that is posted for the current barrier.
  [[nodiscard]] std::size_t offset_in_slot() const noexcept {
    return (calls_ & 1) * sizeof(posted_call);
  }

 private:
  static constexpr int rank_bits = node_barrier_state::rank_bits;
  // In leave() the leader sleeps for 50 us between two checks: other ranks may work for long, and
  // the leader should not take a core from them.
  static constexpr timespec leader_nap{.tv_sec = 0, .tv_nsec = 50'000};

  template <class Between>
  void synchronise(team& team, const collective_call& call, const Between& between_nodes) {
    // Relaxed: this rank has seen this generation at the end of its last barrier, and the
    // generation cannot change before this rank arrives.
    const std::uint32_t generation = state_->generation.load(std::memory_order_relaxed);
    const std::uint64_t fingerprint = arrive(team, call);
    if (local_index_ == 0) {
      for (waiter wait(team, name_of(call.kind)); !all_arrived(); wait.pause()) {
      }
      call_mismatch mismatch;
      if (!all_agree(fingerprint)) find_mismatch(mismatch);
      between_nodes(mismatch);
      if (mismatch.found) state_->mismatch = mismatch;
      state_->has_mismatch = mismatch.found ? 1 : 0;
      // Relaxed: the release store of the generation follows, and the other ranks add to `arrived`
      // again only after they have read the new generation. So they add to this zero.
      state_->arrived.store(0, std::memory_order_relaxed);
      if (team.costs() == nullptr) [[likely]]
        state_->generation.store(generation + 1, std::memory_order_release);
      else
        for (const int peer : team.nodes().my_ranks())
          team.costs()->store(state_->generation, generation + 1, peer);
    } else {
      for (waiter wait(team, name_of(call.kind));
           state_->generation.load(std::memory_order_acquire) == generation; wait.pause()) {
      }
    }
  }

  std::uint64_t arrive(team& team, const collective_call& call) {
    ++calls_;
    team.charge("atomic_updates", 1);
    slots_[local_index_].posted[calls_ & 1] = {call, team.rank(), calls_};
    const std::uint64_t fingerprint = call.fingerprint();
    const auto count = [this, fingerprint] {
      state_->arrived.fetch_add(fingerprint << rank_bits | 1, std::memory_order_acq_rel);
      return all_arrived();
    };
    if (team.costs() == nullptr) [[likely]]
      count();
    else
      team.costs()->change(state_, team.nodes().my_leader(), count);
    return fingerprint;
  }
  [[nodiscard]] bool all_arrived() const noexcept { return state_->arrived_ranks() == ranks_; }
  // REQUIRES: all_arrived() was true. No rank changes `arrived` after that, so a relaxed load gives
  // the complete sum.
  [[nodiscard]] bool all_agree(std::uint64_t fingerprint) const noexcept {
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    return state_->arrived.load(std::memory_order_relaxed) ==
           (fingerprint * ranks << rank_bits) + ranks;
  }
  // The leader's call is the reference. REQUIRES: this rank is the leader; all_arrived() was true.
  void find_mismatch(call_mismatch& mismatch) const noexcept {
    for (int i = 1; i < ranks_; ++i) mismatch.compare(posted(), slots_[i].posted[calls_ & 1]);
  }

  node_barrier_state* state_;
  call_slot* slots_;
  int ranks_, local_index_;
  std::uint64_t calls_ = 0;  // number of calls of this rank, including the current one
};

}  // namespace longshore::detail
