// How a sender writes the messages of a ring: straight into the slots, or into memory of its own, from
// which streaming stores copy them.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/channel.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace longshore::detail {

/// The receiver reads a slot in place, so the lines of a slot lie in its caches when the sender writes
/// the next message. Between near caches a store gets such a line quickly. Between far caches it waits
/// for the other core, line after line. A streaming store does not wait, but then the receiver reads
/// the line from memory.
///
/// Which way is faster depends on the two cores, and changes while a virtual machine runs. So the
/// sender measures: of 256 long messages it writes a few into its own memory, and copies them into
/// their slots by ordinary and by streaming stores. If an ordinary copy takes more than 15 ns per
/// line, and streaming stores take less than half of its time, the other messages of these 256 are
/// streamed. Else they are written straight into their slots. (On AMD EPYC a line takes 2 to 8 ns
/// between near caches, and 27 to 29 ns between far ones.) Messages of less than 2048 bytes are never
/// streamed. Memory: one slot.
class staged_slot {
 public:
  explicit staged_slot(const channel_end& end);

  /// Where the sender writes the next message. Null: straight into its slot.
  [[nodiscard]] std::byte* data() noexcept {
    return next_ == way::direct ? nullptr : lines_.front().bytes;
  }
  /// Copies a message that was written to data() into its slot. Returns whether it was streamed.
  bool copy_to(std::byte* slot, std::size_t bytes) noexcept;
  /// A message was written straight into its slot.
  void wrote_directly(std::size_t bytes) noexcept {
    if (!lines_.empty() && bytes >= long_bytes) advance();
  }

 private:
  enum class way { direct, copied, streamed };
  struct alignas(cache_line_bytes) line {
    std::byte bytes[cache_line_bytes];
  };
  static constexpr std::size_t long_bytes = 2048;
  static constexpr int messages_per_choice = 256;
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  void advance() noexcept;

  std::vector<line> lines_;  // empty if the channel does not stream
  int trials_;               // messages of each kind in a measurement: one for each slot, at most 4
  int message_ = messages_per_choice - 1;  // the next message of the current 256
  way next_ = way::direct;
  double copied_line_seconds_ = unknown, streamed_line_seconds_ = unknown;
};

}  // namespace longshore::detail
