// How far apart the caches of two ranks of a node are, and how messages between them move fastest.
#pragma once

#include <longshore/transport/detail/direct_signals.hpp>
#include <longshore/transport/detail/mapped_memory.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace longshore::detail {

/// What is known of the caches of two ranks. Between near caches, messages are written by ordinary
/// stores, and what is read or packed follows from the cache lines alone (read_policy). Between far
/// caches, a cache line takes about as long from the other core as from memory. Which way of moving
/// a message is fastest then depends on the processor and on the length. So it is measured.
struct pair_caches {
  /// The lengths in bytes that are measured. A message follows the longest of them of which it has
  /// at least half, or else the first.
  static constexpr std::array<std::size_t, 3> lengths{4096, 16384, 65536};
  /// Shorter messages gain nothing by streaming stores.
  static constexpr std::size_t streamed_from_bytes = lengths[0];

  bool are_far = false;
  /// Bit i is for messages of lengths[i] bytes. In `packed`: the receiver reads the message faster
  /// from a slot than in the memory of the sender. In `streamed`: streaming stores fill the slot
  /// faster than ordinary stores.
  std::uint8_t packed = 0, streamed = 0;

  /// Caches that are taken as far without a measurement: all messages are packed and streamed.
  [[nodiscard]] static constexpr pair_caches assumed_far() noexcept { return {true, 0xff, 0xff}; }
  /// Whether a message of this length is packed, however dense its cells are.
  [[nodiscard]] bool packs(std::size_t bytes) const noexcept { return has(packed, bytes); }
  /// Whether a message of this length is packed by streaming stores, if it is packed.
  [[nodiscard]] bool streams(std::size_t bytes) const noexcept {
    return bytes >= streamed_from_bytes && has(streamed, bytes);
  }
  friend bool operator==(const pair_caches&, const pair_caches&) = default;

 private:
  [[nodiscard]] static bool has(std::uint8_t bits, std::size_t bytes) noexcept {
    std::size_t i = 0;
    while (i + 1 < lengths.size() && bytes >= 2 * lengths[i]) ++i;
    return (bits >> i & 1) != 0;
  }
};

/// What LONGSHORE_CACHES says of all caches: true for far, false for near, nothing if it is not set.
/// Throws errc::usage if it has another value.
[[nodiscard]] std::optional<bool> caches_by_environment();

/// The memory in which two ranks measure. The peer writes to `from_peer`, and polls `to_peer`.
/// REQUIRES: line_probe of both signals is 0.
struct measuring_memory {
  direct_signals& from_peer;
  direct_signals& to_peer;
  /// Memory of this rank and of the peer, each of at least `bytes` bytes, for messages.
  const shareable_memory& mine;
  const shared_memory_handle& theirs;
  mapped_memory_cache& mappings;
  static constexpr std::size_t bytes = 3 * pair_caches::lengths.back();
};

/// Both ranks call this, and get the same answer. If the lower rank has `given`, this is the answer.
/// If one of the ranks shares its core with others, the caches are near. Otherwise a line makes 10
/// round trips, of 0.1 to 0.5 us each. If the caches are far, messages are measured, too, which
/// takes about 1 ms. If one of the ranks has `known` another far pair, the answer is that one.
[[nodiscard]] pair_caches measure_caches(team& ranks, int peer, const measuring_memory& memory,
                                         std::optional<bool> given,
                                         const std::optional<pair_caches>& known);

}  // namespace longshore::detail
