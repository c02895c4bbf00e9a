// What each rank has for the team itself, in memory that the others reach: this block, and two rows behind it (team::next_row).
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/cpu_share.hpp>
#include <longshore/transport/node_barrier.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace longshore::one_sided {

/// Zero is the initial state of all.
struct control_block {
  static constexpr int most_rounds = 32;  // of a barrier between 2^32 nodes

  std::atomic<int> failure_reported;  ///< of the host; its first rank's counts
  /// The numbers of this rank's last two meetings with other nodes, of even and of odd ones: what signals are put from. When a meeting
  /// begins, the signals of the one before the last have left.
  alignas(interference_bytes) std::array<std::uint64_t, 2> meetings;
  node_barrier_state barrier;  ///< of the node; its first rank's counts
  alignas(
      interference_bytes) std::array<std::atomic<std::uint64_t>, most_rounds> heard;  ///< last meeting in which round k was heard
  cpu_mask allowed_cpus;                                                              ///< those of this rank
};

}  // namespace longshore::one_sided
