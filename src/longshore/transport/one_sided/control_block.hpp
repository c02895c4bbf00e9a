// What each rank has for the team itself, in memory that the others reach: this block, two rows
// behind it (team::next_row), and the slots in which the ranks of a node post their calls, of which
// those of the node's first rank are used.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/detail/node_barrier.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace longshore::one_sided {

/// Zero is the initial state of all.
struct control_block {
  static constexpr int most_rounds = 32;  // of a barrier between 2^32 nodes

  std::atomic<int> failure_reported;  ///< of the host; its first rank's counts
  /// What this rank's signals of its last two meetings with other nodes are put from, of even and
  /// of odd meetings: the word of a node that agrees with all that it has heard of, and that of one
  /// which does not. When a meeting begins, the signals of the one before the last have left.
  alignas(interference_bytes) std::array<std::array<std::uint64_t, 2>, 2> said;
  detail::node_barrier_state barrier;  ///< of the node; its first rank's counts
  /// The last word heard in each round, in even and in odd meetings: a node that is a meeting ahead
  /// must not overwrite what has not been read.
  alignas(
      interference_bytes) std::array<std::array<std::atomic<std::uint64_t>, most_rounds>, 2> heard;
  detail::cpu_mask allowed_cpus;  ///< those of this rank
};

/// What a signal between nodes says: the number of the meeting, and in the lower bits a fingerprint
/// of the call that the sender and all that it has heard of are in; 0 where they are not in the
/// same. Different calls look alike with a chance of 2^-23. There are numbers for 2^40 meetings:
/// weeks of nothing else.
struct meeting_word {
  static constexpr int call_bits = 24;
  static constexpr std::uint64_t call_mask = (std::uint64_t{1} << call_bits) - 1;

  [[nodiscard]] static std::uint64_t of(std::uint64_t meeting,
                                        const detail::collective_call& call) noexcept {
    return meeting << call_bits | (call.fingerprint() & call_mask) | 1;
  }
  [[nodiscard]] static std::uint64_t of_disagreement(std::uint64_t meeting) noexcept {
    return meeting << call_bits;
  }
  [[nodiscard]] static std::uint64_t meeting_in(std::uint64_t word) noexcept {
    return word >> call_bits;
  }
  [[nodiscard]] static bool agrees(std::uint64_t word) noexcept { return (word & call_mask) != 0; }
};

}  // namespace longshore::one_sided
