// Sends and receives many pieces of memory between ranks as messages on channels. Both ranks of a
// transfer know its size before.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// One stream of bytes to each target and from each source. The pieces for one peer follow each
/// other without gaps in messages of one slot each, so many small pieces travel in one message. A
/// sender waits when its receiver has no free slot. Memory: 2 slots per channel, twice that between
/// nodes.
class message_streams {
 public:
  struct outgoing_piece {
    const std::byte* data;
    std::size_t bytes;
  };
  struct incoming_piece {
    std::byte* data;
    std::size_t bytes;
  };
  enum class send_order {
    target_by_target,  ///< all bytes for to[0], then all for to[1], ...
    interleaved        ///< one message to each target in turn
  };

  /// Collective. A message has some 32 KiB, a multiple of `unit_bytes`.
  message_streams(team& team, std::vector<int> to, std::vector<int> from, std::size_t unit_bytes);

  /// The pieces that the next run sends to to[k] and receives from from[k]. Sender and receiver
  /// give the same number of bytes.
  [[nodiscard]] std::vector<outgoing_piece>& outgoing(std::size_t k) noexcept {
    return senders_[k].pieces;
  }
  [[nodiscard]] std::vector<incoming_piece>& incoming(std::size_t k) noexcept {
    return receivers_[k].pieces;
  }
  [[nodiscard]] const std::vector<int>& to() const noexcept { return to_; }
  [[nodiscard]] const std::vector<int>& from() const noexcept { return from_; }

  /// Local. Sends and receives all pieces, then forgets them. Calls `sent(target, bytes)` for each
  /// message, and `received(data, bytes)`, if given, after each part of an incoming piece was
  /// stored. If all pieces are multiples of the unit, so are these parts.
  void run(send_order order, const std::function<void(int, std::size_t)>& sent,
           const std::function<void(std::byte*, std::size_t)>& received);

 private:
  template <class Piece>
  struct stream {
    std::vector<Piece> pieces;
    std::size_t at = 0, done = 0;  // `done` bytes of pieces[at] were sent or received
    [[nodiscard]] bool ended() noexcept {
      while (at < pieces.size() && done == pieces[at].bytes) {
        ++at;
        done = 0;
      }
      return at == pieces.size();
    }
    void clear() noexcept {
      pieces.clear();
      at = done = 0;
    }
  };

  bool send_message(std::size_t k, const std::function<void(int, std::size_t)>& sent);
  bool receive_message(std::size_t k, const std::function<void(std::byte*, std::size_t)>& received);

  team& team_;
  std::vector<int> to_, from_;
  std::size_t slot_bytes_;
  std::unique_ptr<channel_set> channels_;
  std::vector<stream<outgoing_piece>> senders_;
  std::vector<stream<incoming_piece>> receivers_;
};

}  // namespace longshore::detail
