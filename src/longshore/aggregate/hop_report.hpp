// What an engine did, hop by hop: how many messages, how full, and how long items and ranks waited. Kept without a clock read per item.
#pragma once

#include <longshore/transport/traffic.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace longshore {

/// Times in buckets that grow by a quarter of a power of two, from a nanosecond to some hours: percentiles to within 19 %.
class time_histogram {
 public:
  void add(double seconds) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The time that `fraction` of the samples do not exceed (upper end of its bucket); nothing without samples.
  [[nodiscard]] std::optional<double> percentile(double fraction) const noexcept;
  void clear() noexcept { *this = {}; }

 private:
  static constexpr int buckets = 180;
  std::array<std::uint32_t, buckets> counts_{};
  std::uint64_t count_ = 0;
};

/// What one rank sent over one hop since the engine was made. Messages to itself are counted too: they are copies as all others.
struct hop_report {
  std::uint64_t messages = 0;
  std::uint64_t partial_messages = 0;  ///< of these, sent before they were full; the last ones of a use are among them
  std::uint64_t items = 0;             ///< with elastic items: 8-byte words
  std::uint64_t payload_bytes = 0;     ///< of the items
  std::uint64_t wire_bytes = 0;        ///< with tags and trailers
  std::uint64_t offnode_bytes = 0;     ///< of the wire bytes, those to another node
  std::uint64_t capacity_items = 0;    ///< what the messages could have carried
  std::uint64_t refusals = 0;          ///< how often a full buffer found no free slot

  /// Items sent per item that would have fitted, 0 to 1; 0 when nothing was sent.
  [[nodiscard]] double mean_fill() const noexcept {
    return capacity_items == 0 ? 0 : static_cast<double>(items) / static_cast<double>(capacity_items);
  }
};

/// What one rank's engine did since it was made.
struct engine_report {
  std::vector<hop_report> hops = {};
  double seconds_without_slot = 0;     ///< waited while a push was refused: receivers were behind
  double seconds_nothing_arrived = 0;  ///< waited while nothing came and nothing was left to push
  std::uint64_t latency_samples = 0;   ///< of items delivered at this rank
  std::optional<double> latency_p50_seconds = {}, latency_p90_seconds = {},
                        latency_p99_seconds = {};  ///< push to delivery; none where clocks differ
  std::uint64_t waves = 0;                         ///< of counting, where items may create items

  /// All hops together. The payload is that of the first time an item is sent, not of its relays: the caller's to say.
  [[nodiscard]] traffic sent() const noexcept;
};

}  // namespace longshore
