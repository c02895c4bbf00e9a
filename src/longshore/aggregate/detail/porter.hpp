// porter: one rank's end of one hop of a conveyor. A porter sends full buffers as messages, and
// hands out messages that arrive. A buffer is a slot of a channel, in which items are written and
// read without further copies. Porter is a term of bale.
#pragma once

#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// The free part of the buffer of one link, for loops that append items. If next == end, there is
/// no buffer: call porter::open() first. Then write the item at `next` and 4 bytes of the tag at
/// `next_tag`, and advance `next` by the item's size and `next_tag` by tag_bytes. If next == end
/// after that, call porter::filled().
struct tagged_buffer {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::byte* next_tag = nullptr;
  std::size_t tag_bytes = 0;
};

/// A message holds, in this order: the items; the tags of the items; optionally the push time of
/// one item; optionally the rank that failed; and one byte of flags.
struct message_layout {
  std::size_t item_bytes;
  std::size_t capacity_items;
  std::size_t tag_bytes;

  static constexpr std::size_t push_time_bytes = sizeof(double) + sizeof(std::uint32_t);
  static constexpr std::size_t failed_rank_bytes = sizeof(std::int32_t);
  static constexpr std::size_t flag_bytes = 1;
  [[nodiscard]] std::size_t items_bytes() const noexcept { return capacity_items * item_bytes; }
  /// The size of the largest message. Storing a tag always writes 4 bytes, even if tags are
  /// shorter. The fields after the tags are larger than the surplus of the last tag, and are
  /// written later.
  [[nodiscard]] std::size_t slot_bytes() const noexcept {
    return capacity_items * (item_bytes + tag_bytes) + push_time_bytes + failed_rank_bytes +
           flag_bytes;
  }
};

/// When the item at `position` of a message was pushed. At most one item of a message is timed
/// (porter_options::buffers_per_timed_item).
struct push_time {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t position = none;
  double seconds = 0;  // a value of team::now()
};

/// The end of a channel from one peer, and the message from this peer that is being read, if any.
struct peer_inbox {
  channel_receiver* channel = nullptr;
  int peer = -1;
  const std::byte* items = nullptr;
  const std::byte* tags = nullptr;
  std::uint32_t next = 0;   // the first item that was not consumed yet
  std::uint32_t count = 0;  // items of the message
  push_time timed = {};
  bool has_message = false;
  bool is_last = false;  // the message is the last of this epoch
  bool ended = false;    // the last message of this epoch was consumed
};

struct porter_options {
  message_layout format;
  int slots;                        ///< per link within a host
  int slots_between_hosts;          ///< per link to or from another host
  unsigned buffers_per_timed_item;  ///< if 0, no item is timed
  bool carries_replies = false;     ///< engine_options::carries_replies
};

class porter {
 public:
  static constexpr int nobody = std::numeric_limits<int>::max();

  /// Collective. The porter sends to the ranks `to` and receives from the ranks `from`. buffers[i]
  /// is the buffer to rank to[i]; `buffers` must outlive the porter and stay at their addresses.
  porter(team& team, std::span<const int> to, std::span<const int> from,
         const porter_options& options, std::span<tagged_buffer> buffers);

  // Sending: link i leads to rank to[i]. No call blocks.

  /// Opens a buffer for link `i`, which has no open buffer. Returns false if the receiver has not
  /// released a slot yet. Throws errc::usage after finish().
  bool open(std::size_t i);
  /// The first item in the buffer of link `i`. REQUIRES: the buffer is open.
  [[nodiscard]] std::byte* begin_of(std::size_t i) const noexcept { return links_[i].begin; }
  /// To be called when an item was written to the buffer of link `i` and next == end.
  void filled(std::size_t i);
  /// Sends all open buffers. In an urgent epoch, also sends an empty message on each link that has
  /// carried no urgent message yet, if a slot is free.
  void send_all();
  /// Records that the item just written to the buffer of link `i` was pushed at `seconds`. To be
  /// called before filled().
  void set_push_time(std::size_t i, double seconds);
  /// Sends the last buffer of each link, which may be empty. Call finish() until it returns true.
  /// The buffers carry `failed_rank`: a rank that failed this epoch, or nobody.
  bool finish(int failed_rank);
  /// From now on, messages of this epoch say that the epoch is urgent, as described at
  /// conveyor::make_epoch_urgent().
  void make_epoch_urgent() noexcept { is_urgent_ = true; }
  /// Whether make_epoch_urgent() was called or an urgent message of this epoch was polled.
  [[nodiscard]] bool is_urgent() const noexcept { return is_urgent_; }
  [[nodiscard]] bool has_open_buffers() const noexcept { return oldest_link_ != no_link; }

  // Receiving: peer i is rank from[i].

  [[nodiscard]] std::size_t peer_count() const noexcept { return inboxes_.size(); }
  /// The inbox of peer `i`, with the message that is being read or the next message that arrived.
  /// Null if there is no message.
  peer_inbox* poll(std::size_t i) {
    peer_inbox& inbox = inboxes_[i];
    if (inbox.has_message) return &inbox;
    return inbox.ended ? nullptr : open_message(inbox);
  }
  /// Polls up to `polls` peers by turns, and counts `polls` down. Returns the inbox of the first
  /// peer that has a message, or null.
  peer_inbox* poll_next(std::size_t& polls) {
    return poll_next(polls, [](std::uint32_t) { return false; });
  }
  /// The same, but passes over peers whose message waits (wait_for) for a link with is_full(link).
  /// So it reads nothing of these messages. There are many of them if few links lead on.
  template <class IsFull>
  peer_inbox* poll_next(std::size_t& polls, IsFull&& is_full) {
    while (polls > 0) {
      if (quiet_ != nullptr) [[unlikely]] {
        polls -= skip_quiet_peers(polls);
        if (polls == 0) break;
      }
      --polls;
      const std::size_t i = next_peer();
      if (awaited_links_[i] != no_link) {
        if (is_full(awaited_links_[i])) continue;
        awaited_links_[i] = no_link;
      }
      if (peer_inbox* const inbox = poll(i)) return inbox;
    }
    return nullptr;
  }
  /// The next item of the message in `inbox` needs link `link` of the next hop, which is full.
  void wait_for(const peer_inbox& inbox, std::uint32_t link) noexcept {
    awaited_links_[static_cast<std::size_t>(&inbox - inboxes_.data())] = link;
  }
  /// To be called when the last item of the message was consumed.
  void release(peer_inbox& inbox);
  /// The peer to poll next. All peers take turns, so no peer is preferred.
  [[nodiscard]] std::size_t next_peer() noexcept {
    const std::size_t i = next_peer_;
    next_peer_ = next_peer_ + 1 == inboxes_.size() ? 0 : next_peer_ + 1;
    if (fetches_ahead_) {
      const std::size_t later = i + channel_receiver::peers_ahead;
      const peer_inbox& inbox = inboxes_[later < inboxes_.size() ? later : later - inboxes_.size()];
      if (!inbox.ended) inbox.channel->prefetch();
    }
    return i;
  }
  /// The lowest failed rank that messages of this epoch named so far, or nobody.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Whether every peer has sent its last message and all messages were consumed.
  [[nodiscard]] bool drained() const noexcept { return ended_peers_ == inboxes_.size(); }

  // Sending and receiving.

  /// Begins the next epoch. REQUIRES: finish() and drained() returned true, or termination was
  /// detected.
  void restart();
  [[nodiscard]] const hop_stats& stats() const noexcept { return stats_; }
  /// Messages sent, including those to this rank itself.
  [[nodiscard]] std::uint64_t sent_messages() const noexcept {
    return stats_.messages + stats_.own_copies;
  }
  [[nodiscard]] std::uint64_t consumed_messages() const noexcept { return consumed_messages_; }
  [[nodiscard]] const message_layout& format() const noexcept { return format_; }

 private:
  static constexpr std::uint32_t no_link = 0xffffffff;
  struct link_state {
    channel_sender* channel;
    std::byte* begin = nullptr;
    std::byte* items_end = nullptr;  // the end of the space for items
    push_time timed = {};
    // neighbours in the list of links with open buffers, which is in the order of opening
    std::uint32_t older = no_link, newer = no_link;
    bool to_self, off_node;
    // Whether the next item of this buffer is to be timed. Then tagged_buffer::end lies directly
    // after this item, before the real end, so that filled() is called after the item.
    bool awaits_timed_item = false;
    bool finished = false;
    bool told = false;  // the link has carried an urgent message of this epoch
  };

  void send(std::size_t i, std::uint8_t flags = 0, int failed_rank = nobody);
  peer_inbox* open_message(peer_inbox& inbox);
  // Polls as many of the next `polls` peers as have no message and lie in a row. Returns their number.
  std::size_t skip_quiet_peers(std::size_t polls);
  void unlink(std::size_t i);
  void close(std::size_t i);  // without sending it

  team& team_;
  message_layout format_;
  unsigned buffers_per_timed_item_;
  bool fetches_ahead_;
  std::string_view pushes_ = "conveyor_pushes", pulls_ = "conveyor_pulls";  // team::charge
  std::span<tagged_buffer> buffers_;
  std::vector<link_state> links_;
  std::vector<peer_inbox> inboxes_;
  std::vector<std::uint32_t> awaited_links_;  // set by wait_for(), indexed by peer; or no_link
  std::unique_ptr<channel_set> channels_;
  quiet_receivers* quiet_;                                       // of channels_; may be null
  std::uint32_t oldest_link_ = no_link, newest_link_ = no_link;  // of the links with open buffers
  std::size_t next_peer_ = 0, ended_peers_ = 0;
  std::size_t finished_links_ = 0, first_link_;
  std::uint64_t opened_buffers_ = 0, consumed_messages_ = 0, random_;
  // A bit in the flags of each message, which is set in every second epoch. One bit suffices,
  // because no rank is more than one epoch ahead of another.
  std::uint8_t epoch_ = 0;
  int failed_rank_ = nobody;
  bool is_urgent_ = false;
  // The first told_links_ links have carried an urgent message or are finished.
  std::size_t told_links_ = 0;
  hop_stats stats_;
};

}  // namespace longshore::detail
