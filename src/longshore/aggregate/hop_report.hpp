// What an engine did, hop by hop: how many messages, how full, and how long items and ranks waited.
// Kept without a clock read per item. All numbers only grow: what happened in between is the
// difference of two reports.
#pragma once

#include <longshore/transport/traffic.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

/// Times in buckets that grow by a quarter of a power of two, from a nanosecond to some hours:
/// percentiles to within 19 %.
class time_histogram {
 public:
  static constexpr std::size_t buckets = 180;

  void add(double seconds) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// The time that `fraction` of the samples do not exceed (upper end of its bucket); nothing
  /// without samples.
  [[nodiscard]] std::optional<double> percentile(double fraction) const noexcept;

  /// Samples by bucket, so that the histograms of all ranks can be added.
  [[nodiscard]] std::span<std::int64_t, buckets> counts() noexcept { return counts_; }
  time_histogram& operator+=(const time_histogram& more) noexcept;
  time_histogram& operator-=(const time_histogram& earlier) noexcept;

 private:
  std::array<std::int64_t, buckets> counts_{};
};

/// What one rank sent to others over one hop. What it sends itself is copied, and is no message:
/// the number of these copies is all that is said of them.
struct hop_report {
  std::uint64_t messages = 0;
  /// of these, sent before they were full; the last ones of a use are among them
  std::uint64_t partial_messages = 0;
  std::uint64_t items = 0;           ///< with elastic items: 8-byte words
  std::uint64_t payload_bytes = 0;   ///< of the items
  std::uint64_t wire_bytes = 0;      ///< with tags and trailers
  std::uint64_t offnode_bytes = 0;   ///< of the wire bytes, those to another node
  std::uint64_t capacity_items = 0;  ///< what the messages could have carried
  std::uint64_t refusals = 0;        ///< how often a full buffer found no free slot
  std::uint64_t own_copies = 0;      ///< buffers for this rank itself

  /// Items sent per item that would have fitted, 0 to 1; 0 when nothing was sent.
  [[nodiscard]] double mean_fill() const noexcept {
    return capacity_items == 0 ? 0
                               : static_cast<double>(items) / static_cast<double>(capacity_items);
  }
  /// Counts one message: `bytes` on the wire, of which `more_items` of `item_bytes` where
  /// `capacity` would have fitted.
  void count_message(std::size_t more_items, std::size_t item_bytes, std::size_t capacity,
                     std::size_t bytes, bool off_node) noexcept {
    messages += 1;
    partial_messages += more_items < capacity;
    items += more_items;
    payload_bytes += more_items * item_bytes;
    wire_bytes += bytes;
    capacity_items += capacity;
    if (off_node) offnode_bytes += bytes;
  }
};

/// All numbers of a hop, for whoever does the same with each of them.
inline constexpr std::array<std::uint64_t hop_report::*, 9> hop_numbers = {
    &hop_report::messages,       &hop_report::partial_messages, &hop_report::items,
    &hop_report::payload_bytes,  &hop_report::wire_bytes,       &hop_report::offnode_bytes,
    &hop_report::capacity_items, &hop_report::refusals,         &hop_report::own_copies};

/// What one rank's engine did since it was made.
struct engine_report {
  std::vector<hop_report> hops = {};
  double seconds_without_slot = 0;     ///< waited while a push was refused: receivers were behind
  double seconds_nothing_arrived = 0;  ///< waited while nothing came and nothing was left to push
  /// push to delivery, of some items delivered at this rank; empty where clocks differ
  time_histogram latency = {};
  std::uint64_t waves = 0;  ///< of counting, where items may create items

  /// All hops together. The payload is that of the first time an item is sent, not of its relays:
  /// the caller's to say.
  [[nodiscard]] traffic sent() const noexcept;
  /// Hop by hop.
  engine_report& operator+=(const engine_report& more);
  /// What came since `earlier`, of the same engine.
  [[nodiscard]] engine_report operator-(const engine_report& earlier) const;
};

}  // namespace longshore
