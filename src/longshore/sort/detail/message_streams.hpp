// Sends and receives many pieces of memory between ranks, as messages on channels. Sender and
// receiver know the size of a transfer in advance. Used by the exchanges sendrecv, channel and
// two-hop.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::detail {

/// One stream of bytes to each target and from each source. The pieces for one peer follow each
/// other without gaps in messages that fill a slot, so many small pieces travel in one message. A
/// sender waits when its receiver has no free slot. Memory: 2 slots per channel, twice that between
/// nodes; between hosts, up to 512 KiB of slots per rank and direction. A slot has room for the
/// longest stream so far, at most some 32 KiB.
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

  /// The size of a message is a multiple of `unit_bytes`.
  message_streams(team& team, std::vector<int> to, std::vector<int> from, std::size_t unit_bytes)
      : team_(team),
        to_(std::move(to)),
        from_(std::move(from)),
        unit_bytes_(unit_bytes),
        senders_(to_.size()),
        receivers_(from_.size()) {}

  /// Collective. Call make_room before the first run and before a run with longer streams. Opens
  /// the channels anew if their slots are too small. `longest_bytes`: at least the bytes of any
  /// stream of the next runs; the same on all ranks.
  void make_room(std::size_t longest_bytes);

  /// The pieces that the next run sends to rank to()[k] and receives from rank from()[k]. Sender
  /// and receiver give the same number of bytes.
  [[nodiscard]] std::vector<outgoing_piece>& outgoing(std::size_t k) noexcept {
    return senders_[k].pieces;
  }
  [[nodiscard]] std::vector<incoming_piece>& incoming(std::size_t k) noexcept {
    return receivers_[k].pieces;
  }
  [[nodiscard]] const std::vector<int>& to() const noexcept { return to_; }
  [[nodiscard]] const std::vector<int>& from() const noexcept { return from_; }

  using sent_callback = shared_function<void(int target, std::size_t bytes)>;
  using received_callback = shared_function<void(std::byte* data, std::size_t bytes)>;

  /// Sends and receives all pieces, then forgets the pieces. Calls `sent` for each message. Unless
  /// `received` is empty, calls it after each part of an incoming piece was stored. If the sizes of
  /// all pieces are multiples of unit_bytes, so are the sizes of the parts. The peers of all
  /// streams must call run(), too.
  void run(send_order order, const sent_callback& sent, const received_callback& received);

  /// The steps of run(), for callers that wait for several objects at a time. Call begin() when all
  /// incoming and the first outgoing pieces are listed, advance() until is_done(), and then
  /// clear().
  ///
  /// `awaits_pieces`: the caller will append further outgoing pieces before add_last_pieces().
  /// Until then only full messages are sent. So there are no more messages than if all pieces had
  /// been listed from the beginning.
  void begin(bool awaits_pieces = false);
  void add_last_pieces();
  /// Sends and receives messages without a wait. Returns whether there were any.
  bool advance(send_order order, const sent_callback& sent, const received_callback& received);
  [[nodiscard]] bool awaits_pieces() const noexcept { return awaits_pieces_; }
  [[nodiscard]] bool is_done() const noexcept {
    return !awaits_pieces_ && sending_.empty() && receiving_.empty();
  }
  /// Whether all pieces from from()[k] have arrived.
  [[nodiscard]] bool has_received(std::size_t k) noexcept { return receivers_[k].ended(); }
  void clear() noexcept;

 private:
  template <class Piece>
  struct stream {
    std::vector<Piece> pieces;
    std::size_t current = 0;     // index of a piece
    std::size_t done_bytes = 0;  // bytes of the current piece that were sent or received
    [[nodiscard]] bool ended() noexcept {
      while (current < pieces.size() && done_bytes == pieces[current].bytes) {
        ++current;
        done_bytes = 0;
      }
      return current == pieces.size();
    }
    void clear() noexcept {
      pieces.clear();
      current = done_bytes = 0;
    }
  };

  void find_sending();
  [[nodiscard]] bool fills_slot(const stream<outgoing_piece>& from) const noexcept;
  bool send_message(std::size_t k, const sent_callback& sent);
  bool receive_message(std::size_t k, const received_callback& received);

  team& team_;
  std::vector<int> to_, from_;
  std::size_t unit_bytes_, slot_bytes_ = 0;
  std::unique_ptr<channel_set> channels_;
  std::vector<stream<outgoing_piece>> senders_;
  std::vector<stream<incoming_piece>> receivers_;
  std::vector<std::size_t> sending_, receiving_;  // the streams that have not ended
  bool awaits_pieces_ = false;
};

}  // namespace longshore::detail
