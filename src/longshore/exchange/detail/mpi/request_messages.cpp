// Persistent requests on one buffer, or on the memory of a message. Requests are started one after
// another, so that messages between two ranks match in order.
//
// A rank must not get ahead of a receiver that sends nothing back. So messages to such a receiver
// are synchronous: MPI completes them when the receiver has begun to receive. The completion takes
// a round trip. To hide the round trip, synchronous messages that MPI sends at once have two
// buffers, which exchanges use by turns. An exchange then waits for the synchronous messages of the
// exchange before it.
//
// Receives into buffers are posted early, at the end of the exchange before. A peer with a message
// that arrives in place is an exception, because its receives must be posted in order.
#include <longshore/core/bytes.hpp>
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <array>

namespace longshore::mpi {
namespace {

class request_messages final : public detail::posted_messages {
 public:
  request_messages(mpi::team& ranks, std::span<const detail::posted_end> to,
                   std::span<const detail::posted_end> from, std::size_t piece_bytes)
      : ranks_(ranks), tag_(ranks.hold_message_tag()), piece_bytes_(piece_bytes) {
    const auto place = [this](const detail::posted_end& end) {
      const std::size_t offset = buffer_bytes_;
      if (end.in_place == nullptr) buffer_bytes_ += round_up(end.bytes, cache_line_bytes);
      return offset;
    };
    for (const auto& end : to) {
      const bool is_synchronous =
          std::none_of(from.begin(), from.end(), [&](const auto& f) { return f.peer == end.peer; });
      const bool is_late = is_synchronous && end.in_place == nullptr && end.bytes <= piece_bytes &&
                           end.bytes <= ranks.eager_bytes_to(end.peer);
      const std::size_t first = place(end);
      outgoing_.push_back(
          {end.peer, is_synchronous, is_late, {first, is_late ? place(end) : first}, 0, 0});
    }
    for (const auto& end : from) {
      const bool is_early = std::none_of(from.begin(), from.end(), [&](const auto& f) {
        return f.peer == end.peer && f.in_place != nullptr;
      });
      incoming_.push_back({end.peer, end.in_place, is_early, place(end), 0, 0, 0});
    }
    buffer_ = buffer(buffer_bytes_);
    for (std::size_t i = 0; i < from.size(); ++i) {
      auto& in = incoming_[i];
      in.first_request = receives_.size();
      add(receives_, &MPI_Recv_init, "MPI_Recv_init",
          in.in_place != nullptr ? in.in_place : buffer_.data() + in.offset, from[i]);
      in.pieces = receives_.size() - in.first_request;
      message_of_.insert(message_of_.end(), in.pieces, i);
    }
    completed_.resize(receives_.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      auto& out = outgoing_[i];
      const auto make = out.is_synchronous ? MPI_Ssend_init : MPI_Send_init;
      auto& requests = out.is_late ? late_[0] : sends_;
      out.first_request = requests.size();
      add(requests, make, "MPI_Send_init",
          to[i].in_place != nullptr ? to[i].in_place : buffer_.data() + out.offsets[0], to[i]);
      out.pieces = requests.size() - out.first_request;
      if (out.is_late) add(late_[1], make, "MPI_Send_init", buffer_.data() + out.offsets[1], to[i]);
    }
  }
  // The buffer of a plan that is destroyed in flight is leaked, because MPI may still use it.
  ~request_messages() override {
    if (has_ended()) return;
    if (!is_done() || !complete_late()) {
      static_cast<void>(new buffer(std::move(buffer_)));
      return;
    }
    // Receives that were posted for the next exchange get no message any more.
    for (const auto& in : incoming_)
      for (std::size_t k = 0; is_prepared_ && in.is_early && k < in.pieces; ++k) {
        MPI_Cancel(&receives_[in.first_request + k]);
        MPI_Wait(&receives_[in.first_request + k], MPI_STATUS_IGNORE);
      }
    for (auto* const requests : {&receives_, &sends_, &late_[0], &late_[1]})
      for (auto& request : *requests) MPI_Request_free(&request);
    ranks_.release_message_tag(tag_);
  }

  void start() override {
    for (auto& in : incoming_) {
      if (!is_prepared_ || !in.is_early) start_all(receives_, in.first_request, in.pieces);
      in.missing = in.pieces;
    }
    is_prepared_ = false;
    unreceived_ = incoming_.size();
    are_sent_ = outgoing_.empty();
    started_sends_ = 0;
    turn_ = 1 - turn_;
  }
  void prepare_next() override {
    if (is_prepared_) return;
    for (const auto& in : incoming_)
      if (in.is_early) start_all(receives_, in.first_request, in.pieces);
    is_prepared_ = true;
  }
  std::byte* outgoing(std::size_t i) override {
    return buffer_.data() + outgoing_[i].offsets[turn_];
  }
  void send(std::size_t i) override {
    const auto& out = outgoing_[i];
    start_all(out.is_late ? late_[turn_] : sends_, out.first_request, out.pieces);
    ++started_sends_;
  }
  void poll(std::vector<std::size_t>& arrived) override {
    if (unreceived_ > 0) {
      int ended = 0;
      check(MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &ended,
                         completed_.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome");
      for (int k = 0; k < ended; ++k) {
        const auto message =
            message_of_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(k)])];
        if (--incoming_[message].missing > 0) continue;
        --unreceived_;
        arrived.push_back(message);
      }
    }
    if (unreceived_ > 0 || are_sent_ || started_sends_ < outgoing_.size()) return;
    are_sent_ = test_all(sends_) && test_all(late_[1 - turn_]);
  }
  const std::byte* incoming(std::size_t i) const override {
    return buffer_.data() + incoming_[i].offset;
  }
  bool is_done() const override { return unreceived_ == 0 && are_sent_; }
  std::size_t pending_sends() const override { return are_sent_ ? 0 : 1; }
  int awaited_peer() const override {
    for (const auto& in : incoming_)
      if (unreceived_ > 0 && in.missing > 0) return in.peer;
    return outgoing_.empty() ? -1 : outgoing_.front().peer;
  }
  std::size_t memory_bytes() const override { return sizeof(*this) + buffer_bytes_; }

 private:
  // Small buffers come from the heap, because class pages asks the kernel how much memory is left.
  class buffer {
   public:
    buffer() = default;
    explicit buffer(std::size_t bytes) {
      if (bytes < from_pages_bytes)
        heap_.resize(bytes + cache_line_bytes);
      else
        pages_ = pages(bytes);
    }
    [[nodiscard]] std::byte* data() const noexcept {
      if (pages_.data() != nullptr) return pages_.data();
      const auto address = reinterpret_cast<std::uintptr_t>(heap_.data());
      return reinterpret_cast<std::byte*>(round_up(address, cache_line_bytes));
    }

   private:
    static constexpr std::size_t from_pages_bytes = std::size_t{1} << 18;
    std::vector<std::byte> heap_;
    pages pages_;
  };

  struct outgoing_message {
    int peer;
    bool is_synchronous;
    bool is_late;                        // the next exchange waits for the message
    std::array<std::size_t, 2> offsets;  // by turn
    std::size_t first_request, pieces;   // in sends_ or in late_[turn]
  };
  struct incoming_message {
    int peer;
    std::byte* in_place;
    bool is_early;
    std::size_t offset;
    std::size_t first_request, pieces;  // in receives_
    std::size_t missing;                // pieces that have not arrived
  };
  // Adds a request for each piece of a message.
  template <class Make>
  void add(std::vector<MPI_Request>& requests, const Make& make, const char* call, std::byte* data,
           const detail::posted_end& end) {
    std::size_t begin = 0;
    do {
      const std::size_t bytes = std::min(piece_bytes_, end.bytes - begin);
      check(make(data + begin, count(bytes, call), MPI_BYTE, end.peer, tag_, ranks_.comm(),
                 &requests.emplace_back(MPI_REQUEST_NULL)),
            call);
      begin += bytes;
    } while (begin < end.bytes);
  }
  static void start_all(std::vector<MPI_Request>& requests, std::size_t first, std::size_t count) {
    check(MPI_Startall(static_cast<int>(count), requests.data() + first), "MPI_Startall");
  }
  // Waits for the receivers of the last exchange. Returns false if this fails or takes too long.
  bool complete_late() {
    try {
      for (waiter wait(ranks_, "the receivers of the last exchange");
           !test_all(late_[0]) || !test_all(late_[1]); wait.pause()) {
      }
      return true;
    } catch (...) {
      return false;
    }
  }

  mpi::team& ranks_;
  int tag_;
  std::size_t piece_bytes_;
  std::vector<outgoing_message> outgoing_;
  std::vector<incoming_message> incoming_;
  std::size_t buffer_bytes_ = 0;
  buffer buffer_;
  std::vector<MPI_Request> receives_, sends_;
  std::vector<std::size_t> message_of_;           // of each request of receives_
  std::array<std::vector<MPI_Request>, 2> late_;  // by turn
  std::vector<int> completed_;
  std::size_t unreceived_ = 0, started_sends_ = 0, turn_ = 0;
  bool are_sent_ = true, is_prepared_ = false;
};

}  // namespace

std::unique_ptr<detail::posted_messages> make_request_messages(
    longshore::team& ranks, std::span<const detail::posted_end> to,
    std::span<const detail::posted_end> from, std::size_t piece_bytes) {
  return std::make_unique<request_messages>(dynamic_cast<mpi::team&>(ranks), to, from, piece_bytes);
}

}  // namespace longshore::mpi
