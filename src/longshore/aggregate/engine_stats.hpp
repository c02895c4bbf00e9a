// Statistics of an engine, hop by hop: messages, how full messages were, and how long items and
// ranks waited. No clock is read per item. All numbers only grow, so the difference of two
// statistics describes the time between the two.
#pragma once

#include <longshore/transport/traffic.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

/// A histogram of times, from a nanosecond to some hours. Each bucket is a quarter of a power of
/// two wide, so percentiles are exact to within 19 %.
class time_histogram {
 public:
  static constexpr std::size_t buckets = 180;

  void add(double seconds) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// The time that `fraction` of the samples do not exceed, rounded up to the end of a bucket.
  /// nullopt if there are no samples.
  [[nodiscard]] std::optional<double> percentile(double fraction) const noexcept;

  /// The number of samples in each bucket, so that the histograms of all ranks can be added.
  [[nodiscard]] std::span<std::int64_t, buckets> counts() noexcept;
  time_histogram& operator+=(const time_histogram& more) noexcept;
  time_histogram& operator-=(const time_histogram& earlier) noexcept;

 private:
  std::array<std::int64_t, buckets> counts_{};
};

/// What one rank sent to other ranks over one hop. A buffer to the rank itself is copied and is no
/// message: only own_copies counts it.
struct hop_stats {
  std::uint64_t messages = 0;
  /// messages that were sent before they were full, including the last ones of each epoch
  std::uint64_t partial_messages = 0;
  std::uint64_t items = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t wire_bytes = 0;      ///< items, tags and trailers
  std::uint64_t offnode_bytes = 0;   ///< wire bytes to other nodes
  std::uint64_t capacity_items = 0;  ///< items that would fit into the messages
  std::uint64_t refusals = 0;        ///< how often no slot was free for a buffer
  std::uint64_t own_copies = 0;      ///< buffers to this rank itself
  std::uint64_t streamed_bytes = 0;  ///< wire bytes by streaming stores (channel_end::streams)

  /// items / capacity_items, 0 to 1; 0 if nothing was sent.
  [[nodiscard]] double mean_fill() const noexcept {
    return capacity_items == 0 ? 0
                               : static_cast<double>(items) / static_cast<double>(capacity_items);
  }
  [[nodiscard]] traffic sent() const noexcept {
    return {.messages = messages, .wire_bytes = wire_bytes, .offnode_bytes = offnode_bytes};
  }
  /// Counts one message of `bytes` on the wire with `more_items` items of `item_bytes`. The buffer
  /// has room for `capacity` items.
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

inline constexpr std::array<std::uint64_t hop_stats::*, 10> hop_counters = {
    &hop_stats::messages,       &hop_stats::partial_messages, &hop_stats::items,
    &hop_stats::payload_bytes,  &hop_stats::wire_bytes,       &hop_stats::offnode_bytes,
    &hop_stats::capacity_items, &hop_stats::refusals,         &hop_stats::own_copies,
    &hop_stats::streamed_bytes};

/// What the engine of one rank did since it was made.
struct engine_stats {
  std::vector<hop_stats> hops = {};
  double seconds_without_slot = 0;     ///< waits because a push was refused
  double seconds_nothing_arrived = 0;  ///< waits with nothing to push
  /// time from push to delivery of some items that arrived here; empty if the ranks do not share a
  /// clock
  time_histogram latency = {};

  /// The sum over all hops. payload_bytes stays 0, because the sum would count a relayed item
  /// several times.
  [[nodiscard]] traffic sent() const noexcept;
  engine_stats& operator+=(const engine_stats& more);
  /// What the engine did since `earlier`, which must be of the same engine.
  [[nodiscard]] engine_stats operator-(const engine_stats& earlier) const;
};

/// What the engines of one rank did for requests and for replies since the plan or stream was made.
/// `hops` is empty with strategies that do not aggregate (agp and direct); `replies` is empty for
/// scatter and updates.
struct exchange_stats {
  engine_stats requests = {}, replies = {};

  exchange_stats& operator+=(const exchange_stats& more);
  /// The difference to `earlier`, which must be of the same plan.
  [[nodiscard]] exchange_stats operator-(const exchange_stats& earlier) const;
};

}  // namespace longshore
