// The layout of the control region, a region that the team itself uses. Each rank's part has this
// block, two staging buffers (team::next_staging_offset), and slots in which the ranks of a node
// post their calls. Only the slots in the part of the node's first rank are used.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/detail/node_barrier.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace longshore::one_sided {

/// Initially all bytes are zero.
struct control_block {
  static constexpr int most_rounds = 32;  // of a barrier between 2^32 nodes

  std::atomic<int> failure_reported;  ///< used in the part of the host's first rank
  /// The sources of the signal puts, by parity of the barrier and then by content: agreement,
  /// mismatch. When a barrier begins, the signals of the barrier before the last one have left.
  alignas(interference_bytes) std::array<std::array<std::uint64_t, 2>, 2> sent_signals;
  detail::node_barrier_state barrier;  ///< used in the part of the node's first rank
  /// The last signal received, by parity of the barrier and by round. A node that is one barrier
  /// ahead must not overwrite a signal that is not yet read.
  alignas(interference_bytes)
      std::array<std::array<std::atomic<std::uint64_t>, most_rounds>, 2> received_signals;
  detail::cpu_mask allowed_cpus;  ///< of this rank
};

/// The content of a signal between nodes: the number of the barrier, and in the lower bits a
/// fingerprint of the collective call. The fingerprint is 0 if the sender knows of ranks in
/// different calls. Different calls have the same fingerprint with a probability of 2^-23. 2^40
/// barriers can be numbered, which is weeks of barriers only.
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
