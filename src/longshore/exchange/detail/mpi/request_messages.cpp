// Persistent requests on one buffer. Requests are started one after another, so that messages
// between two ranks match in order.
//
// A rank must not get ahead of a receiver that sends nothing back. So messages to such a receiver
// are synchronous: MPI completes them when the receiver has begun to receive. This takes a round
// trip. To hide it, synchronous messages that MPI sends at once have two buffers, which exchanges
// use by turns. An exchange then waits for these messages of the exchange before.
#include <longshore/core/bytes.hpp>
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/transport/mpi/detail/eager_limit.hpp>
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
                   std::span<const detail::posted_end> from)
      : ranks_(ranks), completed_(from.size()) {
    const int tag = ranks.take_message_tag();
    const auto place = [this](std::size_t bytes) {
      const std::size_t offset = buffer_bytes_;
      buffer_bytes_ += round_up(bytes, cache_line_bytes);
      return offset;
    };
    for (const auto& end : to) {
      const bool is_synchronous =
          std::none_of(from.begin(), from.end(), [&](const auto& f) { return f.peer == end.peer; });
      const bool is_late = is_synchronous && end.bytes <= ranks.eager_bytes_to(end.peer);
      const std::size_t first = place(end.bytes);
      outgoing_.push_back(
          {is_synchronous, is_late, {first, is_late ? place(end.bytes) : first}, 0});
    }
    for (const auto& end : from) incoming_offsets_.push_back(place(end.bytes));
    buffer_ = buffer(buffer_bytes_);
    for (std::size_t i = 0; i < from.size(); ++i)
      check(MPI_Recv_init(buffer_.data() + incoming_offsets_[i],
                          count(from[i].bytes, "MPI_Recv_init"), MPI_BYTE, from[i].peer, tag,
                          ranks.comm(), &receives_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Recv_init");
    for (std::size_t i = 0; i < to.size(); ++i) {
      auto& out = outgoing_[i];
      out.request = (out.is_late ? late_[0] : sends_).size();
      const auto make = out.is_synchronous ? MPI_Ssend_init : MPI_Send_init;
      const auto add = [&](std::vector<MPI_Request>& requests, std::size_t offset) {
        check(make(buffer_.data() + offset, count(to[i].bytes, "MPI_Send_init"), MPI_BYTE,
                   to[i].peer, tag, ranks.comm(), &requests.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Send_init");
      };
      add(out.is_late ? late_[0] : sends_, out.offsets[0]);
      if (out.is_late) add(late_[1], out.offsets[1]);
    }
  }
  // The buffer of a plan that is destroyed in flight is leaked, because MPI may still use it.
  ~request_messages() override {
    if (has_ended()) return;
    if (!is_done() || !complete_late()) {
      static_cast<void>(new buffer(std::move(buffer_)));
      return;
    }
    for (auto* const requests : {&receives_, &sends_, &late_[0], &late_[1]})
      for (auto& request : *requests) MPI_Request_free(&request);
  }

  void start() override {
    for (auto& request : receives_) check(MPI_Start(&request), "MPI_Start");
    unreceived_ = receives_.size();
    are_sent_ = outgoing_.empty();
    started_sends_ = 0;
    turn_ = 1 - turn_;
  }
  std::byte* outgoing(std::size_t i) override {
    return buffer_.data() + outgoing_[i].offsets[turn_];
  }
  void send(std::size_t i) override {
    const auto& out = outgoing_[i];
    check(MPI_Start(&(out.is_late ? late_[turn_] : sends_)[out.request]), "MPI_Start");
    ++started_sends_;
  }
  void poll(std::vector<std::size_t>& arrived) override {
    if (unreceived_ > 0) {
      int ended = 0;
      check(MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &ended,
                         completed_.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome");
      for (int k = 0; k < ended; ++k)
        arrived.push_back(static_cast<std::size_t>(completed_[static_cast<std::size_t>(k)]));
      if (ended > 0) unreceived_ -= static_cast<std::size_t>(ended);
    }
    if (unreceived_ > 0 || are_sent_ || started_sends_ < outgoing_.size()) return;
    are_sent_ = test_all(sends_) && test_all(late_[1 - turn_]);
  }
  const std::byte* incoming(std::size_t i) const override {
    return buffer_.data() + incoming_offsets_[i];
  }
  bool is_done() const override { return unreceived_ == 0 && are_sent_; }
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
    bool is_synchronous;
    bool is_late;                        // the next exchange waits for the message
    std::array<std::size_t, 2> offsets;  // by turn
    std::size_t request;                 // in sends_ or in late_[turn]
  };
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
  std::vector<outgoing_message> outgoing_;
  std::vector<std::size_t> incoming_offsets_;
  std::size_t buffer_bytes_ = 0;
  buffer buffer_;
  std::vector<MPI_Request> receives_, sends_;
  std::array<std::vector<MPI_Request>, 2> late_;  // by turn
  std::vector<int> completed_;
  std::size_t unreceived_ = 0, started_sends_ = 0, turn_ = 0;
  bool are_sent_ = true;
};

}  // namespace

std::unique_ptr<detail::posted_messages> make_request_messages(
    longshore::team& ranks, std::span<const detail::posted_end> to,
    std::span<const detail::posted_end> from) {
  return std::make_unique<request_messages>(dynamic_cast<mpi::team&>(ranks), to, from);
}

std::size_t longest_posted_message() noexcept { return eager_bytes_between_hosts; }

}  // namespace longshore::mpi
