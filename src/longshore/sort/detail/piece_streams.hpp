// Many pieces of memory on their way between ranks, cut into messages on channels: each rank knows
// what it sends and what it gets.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// Streams from this rank to some and from some to this rank. Pieces for one peer follow each other
/// without gaps in messages of slot_bytes(): many small ones become one message. Channels hold back
/// a sender whose receiver is behind. Memory: 2 slots per channel (twice that between nodes).
class piece_streams {
 public:
  struct outgoing_piece {
    const std::byte* data;
    std::size_t bytes;
  };
  struct incoming_piece {
    std::byte* data;
    std::size_t bytes;
  };
  enum class turns {
    one_target,  ///< all to the first of `to`, then to the second, ...
    all_targets  ///< a message to each by turns
  };

  /// Collective. Messages are multiples of `unit_bytes`, some 32 KiB.
  piece_streams(team& team, std::vector<int> to, std::vector<int> from, std::size_t unit_bytes);

  /// What the next run sends to to[k] and gets from from[k]. Both ends say the same number of
  /// bytes.
  [[nodiscard]] std::vector<outgoing_piece>& outgoing(std::size_t k) noexcept {
    return senders_[k].pieces;
  }
  [[nodiscard]] std::vector<incoming_piece>& incoming(std::size_t k) noexcept {
    return receivers_[k].pieces;
  }
  [[nodiscard]] const std::vector<int>& to() const noexcept { return to_; }
  [[nodiscard]] const std::vector<int>& from() const noexcept { return from_; }

  /// Local. Returns when all has been sent and received, and forgets the pieces. `sent(target,
  /// bytes)` is called for each message, `came(data, bytes)` for each stretch of an incoming piece
  /// once it is there, in whole units where pieces are so.
  void run(turns order, const std::function<void(int, std::size_t)>& sent,
           const std::function<void(std::byte*, std::size_t)>& came);

 private:
  template <class Piece>
  struct stream {
    std::vector<Piece> pieces;
    std::size_t at = 0, done = 0;  // `done` bytes of pieces[at]
    [[nodiscard]] bool ended() noexcept {
      while (at < pieces.size() && done == pieces[at].bytes) {
        ++at;
        done = 0;
      }
      return at == pieces.size();
    }
    void forget() noexcept {
      pieces.clear();
      at = done = 0;
    }
  };

  bool send_message(std::size_t k, const std::function<void(int, std::size_t)>& sent);
  bool receive_from(std::size_t k, const std::function<void(std::byte*, std::size_t)>& came);

  team& team_;
  std::vector<int> to_, from_;
  std::size_t slot_bytes_;
  std::unique_ptr<channel_set> channels_;
  std::vector<stream<outgoing_piece>> senders_;
  std::vector<stream<incoming_piece>> receivers_;
};

}  // namespace longshore::detail
