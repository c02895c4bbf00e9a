// porter: one hop of an aggregation engine. It fills one buffer per peer that it sends to, sends
// full buffers as messages, and hands out the messages that arrive. A buffer is a slot of a
// channel: items are written and read there, without further copies. Porter is a term of conveyors
// in bale.
#pragma once

#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// The free part of the buffer of one link, for loops that append items: write the item at `next`
/// and its tag at `next_tag` (always 4 bytes), advance both, then call porter::filled() if
/// next == end. Before writing: if next == end, there is no
/// buffer, call porter::open().
struct tagged_buffer {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::byte* next_tag = nullptr;
  std::size_t tag_bytes = 0;
};

/// A message holds, in this order: the items, their tags, optionally the push time of one item,
/// optionally the rank that failed, and one byte of flags.
struct message_layout {
  std::size_t item_bytes;
  std::size_t capacity_items;
  std::size_t tag_bytes;

  static constexpr std::size_t push_time_bytes = sizeof(double) + sizeof(std::uint32_t);
  static constexpr std::size_t failed_bytes = sizeof(std::int32_t);
  static constexpr std::size_t flag_bytes = 1;
  [[nodiscard]] std::size_t area_bytes() const noexcept { return capacity_items * item_bytes; }
  /// Writing a tag always stores 4 bytes: those of the last tag may spill into the bytes
  /// behind the tags.
  [[nodiscard]] std::size_t slot_bytes() const noexcept {
    return capacity_items * (item_bytes + tag_bytes) + push_time_bytes + failed_bytes + flag_bytes;
  }
};

/// When the item at `position` of a message was pushed. One item in some thousands is timed.
struct push_time {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t position = none;
  double seconds = 0;
};

/// The message from one peer that is being read, and how much of it was read.
struct incoming_message {
  channel_receiver* from = nullptr;
  int peer = -1;
  const std::byte* items = nullptr;
  const std::byte* tags = nullptr;
  std::uint32_t next = 0, count = 0;
  push_time timed = {};
  bool holds = false;  // there is a message
  bool last = false;   // it is the peer's last message of this use
  bool ended = false;  // the peer's last message was consumed
};

struct porter_options {
  message_layout format;
  int slots;
  unsigned stamp_every;  ///< one item is timed per so many buffers; 0: none
};

/// One rank's end of a hop. The class comment of conveyor has the cost.
class porter {
 public:
  static constexpr int nobody = std::numeric_limits<int>::max();

  /// Collective. `to` and `from`: the peers of this hop. `buffers`: one per rank of `to`, in that
  /// order; they must outlive the porter and stay at their addresses.
  porter(team& team, std::span<const int> to, std::span<const int> from,
         const porter_options& options, std::span<tagged_buffer> buffers);

  // Sending: link i leads to the i-th rank of `to`. No call blocks.

  /// Opens a buffer for link `i`, which has none. False if the receiver has not released a slot
  /// yet. Throws errc::usage after finish().
  bool open(std::size_t i);
  /// The first item in the buffer of link `i`, if it has one.
  [[nodiscard]] std::byte* begin_of(std::size_t i) const noexcept { return states_[i].begin; }
  /// To be called when an item was written to link `i` and next == end.
  void filled(std::size_t i);
  /// Sends the buffer of link `i`, which is open.
  void send(std::size_t i, bool last = false, int failed_rank = nobody);
  /// Sends all open buffers.
  void send_all();
  /// Sends each buffer that was opened at least `advances` ticks or `seconds` before the last tick.
  /// 0 switches that bound off. Reads no clock.
  void send_older_than(std::uint64_t advances, double seconds);
  /// Records that the item just written to link `i` was pushed at `seconds`. Call it before
  /// filled().
  void set_push_time(std::size_t i, double seconds);
  /// Sends the last buffer of each link, which may be empty. Call it until it returns true: then
  /// all were sent. The buffers carry `failed_rank`, the rank that failed this use, or nobody.
  bool finish(int failed_rank);
  [[nodiscard]] bool has_open_buffers() const noexcept { return oldest_ != no_link; }

  // Receiving: peer i is the i-th rank of `from`.

  [[nodiscard]] std::size_t peer_count() const noexcept { return incoming_.size(); }
  /// The message from peer `i` that is being read, or the next one if it has arrived, or null.
  incoming_message* poll(std::size_t i) {
    incoming_message& s = incoming_[i];
    if (s.holds) return &s;
    return s.ended ? nullptr : open_message(s);
  }
  /// To be called when the last item of a message was consumed.
  void release(incoming_message& s);
  /// The peer to poll next, in turn, so that no peer is preferred.
  [[nodiscard]] std::size_t next_turn() noexcept {
    const std::size_t i = turn_;
    turn_ = turn_ + 1 == incoming_.size() ? 0 : turn_ + 1;
    return i;
  }
  /// The lowest failed rank that the last messages received so far name, or nobody.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Whether every peer has sent its last message and all messages were consumed.
  [[nodiscard]] bool drained() const noexcept { return ended_ == incoming_.size(); }

  // Both.

  /// Makes the porter ready for the next use. REQUIRES: finished and drained, or termination was
  /// detected.
  void restart();
  /// Counts an advance. Buffers that are opened from now on count as opened at `seconds`, a moment
  /// at or before their true opening.
  void tick(double seconds) noexcept {
    ++advances_;
    now_ = seconds;
  }
  [[nodiscard]] const hop_stats& stats() const noexcept { return stats_; }
  /// Messages sent, including those to this rank itself.
  [[nodiscard]] std::uint64_t sent_messages() const noexcept {
    return stats_.messages + stats_.own_copies;
  }
  [[nodiscard]] std::uint64_t consumed_messages() const noexcept { return consumed_; }
  [[nodiscard]] const message_layout& format() const noexcept { return format_; }

 private:
  static constexpr std::uint32_t no_link = 0xffffffff;
  struct link_state {
    channel_sender* to;
    std::byte* begin = nullptr;
    std::byte* area_end = nullptr;
    push_time timed = {};
    std::uint64_t opened_advance = 0;
    double opened_seconds = 0;
    // A list of the links with open buffers, in the order of opening.
    std::uint32_t older = no_link, newer = no_link;
    bool own, off_node, awaits_timed_item = false, finished = false;
  };

  incoming_message* open_message(incoming_message& s);
  void unlink(std::size_t i);

  team& team_;
  message_layout format_;
  unsigned stamp_every_;
  std::span<tagged_buffer> buffers_;
  std::unique_ptr<channel_set> channels_;
  std::vector<link_state> states_;
  std::vector<incoming_message> incoming_;
  std::uint32_t oldest_ = no_link, newest_ = no_link;
  std::size_t turn_ = 0, ended_ = 0, finishing_ = 0, first_link_;
  std::uint64_t opened_ = 0, advances_ = 0, consumed_ = 0, random_;
  double now_ = 0;
  std::uint8_t epoch_ = 0;
  int failed_rank_ = nobody;
  hop_stats stats_;
};

}  // namespace longshore::detail
