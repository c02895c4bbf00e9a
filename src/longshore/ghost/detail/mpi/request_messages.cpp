// Persistent requests on one buffer. Requests are started one after another, so that messages
// between two ranks match in order.
#include <longshore/ghost/detail/mpi/request_messages.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/transport/mpi/eager_limit.hpp>
#include <longshore/transport/mpi/team.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

class request_messages final : public detail::posted_messages {
 public:
  request_messages(mpi::team& ranks, std::span<const detail::posted_end> to,
                   std::span<const detail::posted_end> from)
      : completed_(from.size()) {
    const int tag = ranks.take_message_tag();
    const auto place = [this](std::span<const detail::posted_end> ends,
                              std::vector<std::size_t>& offsets) {
      for (const auto& end : ends) {
        offsets.push_back(buffer_bytes_);
        buffer_bytes_ += round_up(end.bytes, cache_line_bytes);
      }
    };
    place(to, outgoing_offsets_);
    place(from, incoming_offsets_);
    buffer_ = buffer(buffer_bytes_);
    for (std::size_t i = 0; i < from.size(); ++i)
      check(MPI_Recv_init(buffer_.data() + incoming_offsets_[i],
                          count(from[i].bytes, "MPI_Recv_init"), MPI_BYTE, from[i].peer, tag,
                          ranks.comm(), &receives_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Recv_init");
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool has_answer = std::any_of(from.begin(), from.end(),
                                          [&](const auto& end) { return end.peer == to[i].peer; });
      const auto make = has_answer ? MPI_Send_init : MPI_Ssend_init;
      check(make(buffer_.data() + outgoing_offsets_[i], count(to[i].bytes, "MPI_Send_init"),
                 MPI_BYTE, to[i].peer, tag, ranks.comm(), &sends_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Send_init");
    }
    unsent_ = 0;
  }
  // The buffer of a plan that is destroyed in flight is leaked, because MPI may still use it.
  ~request_messages() override {
    if (has_ended()) return;
    if (!is_done()) {
      static_cast<void>(new buffer(std::move(buffer_)));
      return;
    }
    for (auto* const requests : {&receives_, &sends_})
      for (auto& request : *requests) MPI_Request_free(&request);
  }

  void start() override {
    for (auto& request : receives_) check(MPI_Start(&request), "MPI_Start");
    unreceived_ = receives_.size();
    unsent_ = sends_.size();
    started_sends_ = 0;
  }
  std::byte* outgoing(std::size_t i) override { return buffer_.data() + outgoing_offsets_[i]; }
  void send(std::size_t i) override {
    check(MPI_Start(&sends_[i]), "MPI_Start");
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
    if (unreceived_ > 0 || unsent_ == 0 || started_sends_ < sends_.size()) return;
    int are_sent = 0;
    check(
        MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &are_sent, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    if (are_sent != 0) unsent_ = 0;
  }
  const std::byte* incoming(std::size_t i) const override {
    return buffer_.data() + incoming_offsets_[i];
  }
  bool is_done() const override { return unreceived_ == 0 && unsent_ == 0; }
  std::size_t memory_bytes() const override { return sizeof(*this) + buffer_bytes_; }

 private:
  // Small buffers come from the heap: for pages the kernel is asked how much memory is left.
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

  std::vector<std::size_t> outgoing_offsets_, incoming_offsets_;
  std::size_t buffer_bytes_ = 0;
  buffer buffer_;
  std::vector<MPI_Request> receives_, sends_;
  std::vector<int> completed_;
  std::size_t unreceived_ = 0, unsent_ = 0, started_sends_ = 0;
};

}  // namespace

std::unique_ptr<detail::posted_messages> make_request_messages(
    longshore::team& ranks, std::span<const detail::posted_end> to,
    std::span<const detail::posted_end> from) {
  return std::make_unique<request_messages>(dynamic_cast<mpi::team&>(ranks), to, from);
}

std::size_t longest_posted_message() noexcept { return eager_bytes_between_hosts; }

}  // namespace longshore::mpi
