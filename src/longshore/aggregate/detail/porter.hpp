// One hop of an aggregation engine: buffers to a set of peers, and messages from a set of peers,
// each over a channel. A buffer is a slot of a channel, filled where it lies and read where it
// lies. The idea of porters is that of conveyors (bale).
#pragma once

#include <longshore/aggregate/hop_report.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// What a loop needs to append an item: write at `next`, the tag (always 4 bytes of it) at
/// `next_tag`, advance both; then, when next == end, tell the porter (filled). next == end before:
/// closed; ask the porter to open it.
struct lane {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::byte* next_tag = nullptr;
  std::size_t tag_bytes = 0;
};

/// A message: items, then their tags, then perhaps a stamp, perhaps the rank that failed, then one
/// byte of flags.
struct message_layout {
  std::size_t item_bytes;
  std::size_t capacity_items;
  std::size_t tag_bytes;

  static constexpr std::size_t stamp_bytes = sizeof(double) + sizeof(std::uint32_t);
  static constexpr std::size_t failed_bytes = sizeof(std::int32_t);
  static constexpr std::size_t flag_bytes = 1;
  [[nodiscard]] std::size_t area_bytes() const noexcept { return capacity_items * item_bytes; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept {
    return capacity_items * (item_bytes + tag_bytes) + stamp_bytes + failed_bytes +
           flag_bytes;  // the end also takes what the last tag writes beyond itself
  }
};

/// When the item at `position` of a message was pushed: one item in some thousands has its way
/// timed.
struct stamp {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t position = none;
  double seconds = 0;
};

/// The message that is being read from one peer, and how far.
struct source {
  channel_receiver* from = nullptr;
  int peer = -1;
  const std::byte* items = nullptr;
  const std::byte* tags = nullptr;
  std::uint32_t next = 0, count = 0;
  stamp timed = {};
  bool holds = false;  // there is a message
  bool last = false;   // and it is the peer's last of this use
  bool ended = false;  // its last message was consumed
};

struct porter_options {
  message_layout format;
  int slots;
  unsigned stamp_every;  ///< buffers per timed item; 0: none
};

class porter {
 public:
  static constexpr int nobody = std::numeric_limits<int>::max();

  /// Collective. `lanes`: one per rank of `to`, in that order; must outlive the porter and not
  /// move.
  porter(team& team, std::span<const int> to, std::span<const int> from,
         const porter_options& options, std::span<lane> lanes);

  // Sending. Nothing here blocks.

  /// Makes a closed lane writable. False when its receiver is behind. Throws errc::usage after
  /// finish().
  bool open(std::size_t i);
  /// Where the first item of lane `i` lies, if it is open.
  [[nodiscard]] std::byte* begin_of(std::size_t i) const noexcept { return states_[i].begin; }
  /// After an item was written to lane `i` so that next == end.
  void filled(std::size_t i);
  /// Sends what an open lane holds.
  void ship(std::size_t i, bool last = false, int failed_rank = nobody);
  /// Sends all open lanes.
  void ship_all();
  /// Sends each buffer that was opened `advances` ticks ago or earlier, and each that was opened
  /// `seconds` ago or earlier. A bound of 0 is no bound. Ages end with the last tick: this reads no
  /// clock.
  void ship_older_than(std::uint64_t advances, double seconds);
  /// Notes that the item just written to lane `i` was pushed at `seconds`; call it before filled().
  void carry_stamp(std::size_t i, double seconds);
  /// Sends the last buffer, perhaps an empty one, on each lane; true when all went out. To be
  /// called until then. The buffers say which rank failed this use, or nobody.
  bool finish(int failed_rank);
  [[nodiscard]] bool has_open_lanes() const noexcept { return oldest_ != no_lane; }

  // Receiving.

  [[nodiscard]] std::size_t source_count() const noexcept { return sources_.size(); }
  /// Looks whether source `i` has a message, and makes it the one that is read.
  source* look(std::size_t i) {
    source& s = sources_[i];
    if (s.holds) return &s;
    return s.ended ? nullptr : fetch(s);
  }
  /// After the last item of a message was consumed.
  void release(source& s);
  /// Sources look at one after the other, beginning where the last look ended.
  [[nodiscard]] std::size_t take_turn() noexcept {
    const std::size_t i = turn_;
    turn_ = turn_ + 1 == sources_.size() ? 0 : turn_ + 1;
    return i;
  }
  /// The lowest rank of which the last messages that came said that it failed this use, or nobody.
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  /// Whether every peer has sent its last message and all were consumed.
  [[nodiscard]] bool drained() const noexcept { return ended_ == sources_.size(); }

  // Both.

  /// Makes the porter ready for the next use. REQUIRES: finished and drained, or quiet everywhere.
  void restart();
  /// Counts an advance; `seconds` is the time of the buffers opened from now on, which makes them
  /// older rather than younger.
  void tick(double seconds) noexcept {
    ++advances_;
    now_ = seconds;
  }
  [[nodiscard]] const hop_report& report() const noexcept { return report_; }
  /// Messages sent, those to this rank itself included.
  [[nodiscard]] std::uint64_t shipped() const noexcept {
    return report_.messages + report_.own_copies;
  }
  [[nodiscard]] std::uint64_t consumed() const noexcept { return consumed_; }
  [[nodiscard]] const message_layout& format() const noexcept { return format_; }

 private:
  static constexpr std::uint32_t no_lane = 0xffffffff;
  struct lane_state {
    channel_sender* to;
    std::byte* begin = nullptr;
    std::byte* area_end = nullptr;
    stamp timed = {};
    std::uint64_t opened_advance = 0;
    double opened_seconds = 0;
    std::uint32_t older = no_lane, newer = no_lane;  // the open lanes in the order of their opening
    bool own, off_node, to_time = false, finished = false;
  };

  source* fetch(source& s);
  void unlink(std::size_t i);

  team& team_;
  message_layout format_;
  unsigned stamp_every_;
  std::span<lane> lanes_;
  std::unique_ptr<channel_set> channels_;
  std::vector<lane_state> states_;
  std::vector<source> sources_;
  std::uint32_t oldest_ = no_lane, newest_ = no_lane;
  std::size_t turn_ = 0, ended_ = 0, finishing_ = 0, first_lane_;
  std::uint64_t opened_ = 0, advances_ = 0, consumed_ = 0, random_;
  double now_ = 0;
  std::uint8_t epoch_ = 0;
  int failed_rank_ = nobody;
  hop_report report_;
};

}  // namespace longshore::detail
