// The layout of the control region, the region that a team uses itself. Each rank's part has a
// control_block, two staging buffers (team::next_staging_offset), and the call slots of the node.
// Only the call slots in the part of the node's first rank are used.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/detail/node_barrier.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace longshore::one_sided {

/// All bytes must be zero at first.
struct control_block {
  static constexpr int max_rounds = 32;  // enough for 2^32 nodes

  std::atomic<int> failure_reported;  ///< used in the part of the host's first rank
  /// Memory from which signals are put: first index the parity of the barrier number, second index
  /// 0 for agreement and 1 for a mismatch. When barrier n begins, the signals of barrier n-2 have
  /// left.
  alignas(interference_bytes) std::array<std::array<std::uint64_t, 2>, 2> sent_signals;
  detail::node_barrier_state barrier;  ///< used in the part of the node's first rank
  /// The last received signals: first index the parity of the barrier number, second index the
  /// round. The parity keeps a node that is one barrier ahead from overwriting a signal that is not
  /// yet read.
  alignas(interference_bytes)
      std::array<std::array<std::atomic<std::uint64_t>, max_rounds>, 2> received_signals;
  detail::cpu_mask allowed_cpus;  ///< of this rank
};

/// Encodes and decodes the 64-bit word that nodes send each other in a barrier. The upper 40 bits
/// are the number of the barrier, enough for weeks of nothing but barriers. The lower 24 bits are a
/// fingerprint of the collective call, or 0 if the sender knows of a mismatch. Different calls have
/// the same fingerprint with a probability of 2^-23, because of() sets the lowest bit so that a
/// fingerprint is never 0.
struct barrier_signal {
  static constexpr int call_bits = 24;
  static constexpr std::uint64_t call_mask = (std::uint64_t{1} << call_bits) - 1;

  [[nodiscard]] static std::uint64_t of(std::uint64_t barrier,
                                        const detail::collective_call& call) noexcept {
    return barrier << call_bits | (call.fingerprint() & call_mask) | 1;
  }
  [[nodiscard]] static std::uint64_t of_mismatch(std::uint64_t barrier) noexcept {
    return barrier << call_bits;
  }
  [[nodiscard]] static std::uint64_t barrier_in(std::uint64_t signal) noexcept {
    return signal >> call_bits;
  }
  [[nodiscard]] static bool agrees(std::uint64_t signal) noexcept {
    return (signal & call_mask) != 0;
  }
};

}  // namespace longshore::one_sided
