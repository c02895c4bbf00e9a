// Items to any rank without rounds: a buffer leaves when it is full, and is read when its receiver looks. The smallest engine that
// the streaming forms can be built on; they use nothing of it but push, drain and advance, so that any engine with these fits.
#pragma once

#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace longshore::gathering {

/// Items of one pair of ranks arrive in the order of pushing. A receiver that does not look stops its senders (push says no), so
/// whoever cannot push must drain until he can.
/// Cost: 1 message per full buffer, and one to every rank at the end of a use. Memory per rank: ranks x slots buffers (twice
/// that towards other nodes).
class one_hop {
 public:
  /// Collective. `buffer_bytes`: of the items of one message; the same on all ranks.
  one_hop(team& team, std::size_t buffer_bytes);

  /// Appends an item for `rank`; false when its buffer is full and cannot be sent yet. Local.
  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    lane& to = lanes_[rank];
    if (static_cast<std::size_t>(to.end - to.next) < sizeof(Item) && !turn_over(rank)) return false;
    std::memcpy(to.next, &item, sizeof(Item));
    to.next += sizeof(Item);
    return true;
  }

  /// Calls f(source, item) for items that have arrived, of at most one buffer of each rank; returns how many. Local. f may not push
  /// to this engine. REQUIRES: all ranks push items of this type only.
  template <trivially_copyable Item, class F>
  std::size_t drain(F f) {
    std::size_t count = 0;
    for (int peer = 0; peer < static_cast<int>(lanes_.size()); ++peer) {
      if (ended_[peer]) continue;  // what comes now is of the next use
      const auto message = channels_->receiver(static_cast<std::size_t>(peer)).front();
      if (!message) continue;
      const std::size_t bytes = message->size() - trailer_bytes;
      for (std::size_t at = 0; at < bytes; at += sizeof(Item)) {
        alignas(Item) std::byte copy[sizeof(Item)];
        std::memcpy(copy, message->data() + at, sizeof(Item));
        f(peer, *reinterpret_cast<const Item*>(copy));
      }
      count += bytes / sizeof(Item);
      ended_[peer] = message->back() == last_buffer;
      ended_count_ += ended_[peer];
      channels_->receiver(static_cast<std::size_t>(peer)).release();
    }
    return count;
  }

  /// Never blocks. `done`: this rank pushes nothing more in this use; its last buffers are sent. False once all ranks are done and
  /// everything was drained here: then a new use can begin.
  bool advance(bool done);

  /// Messages and bytes that this rank sent, without those to itself.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

 private:
  struct lane {
    std::byte *begin, *next, *end;  // null while there is no slot
  };
  static constexpr std::size_t trailer_bytes = 1;
  static constexpr std::byte more_buffers{0}, last_buffer{1};

  bool open(int rank);       // whether there is a buffer to write into
  bool turn_over(int rank);  // sends a full buffer; whether there is another
  void send(int rank, std::byte trailer);

  team& team_;
  std::size_t buffer_bytes_;
  std::unique_ptr<channel_set> channels_;
  std::vector<lane> lanes_;               // by destination
  std::vector<unsigned char> last_sent_;  // by destination
  std::vector<unsigned char> ended_;      // by source
  std::size_t last_sent_count_ = 0, ended_count_ = 0;
  traffic sent_;
};

}  // namespace longshore::gathering
