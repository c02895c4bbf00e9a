// All requests of an exchange start at once. A block begins with short messages that MPI sends
// without asking the receiver. Meanwhile the receiver answers the requests of the long messages
// that follow. MPI copies no byte of a long message.
#include <longshore/sort/detail/posted_blocks.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <vector>

namespace longshore::mpi {
namespace {

// The largest numbers of messages of a block. Without short messages, a network of 1 Gbit/s and 1
// ms would wait for answers. Blocks of about 1 MiB and more end with long messages, which take less
// time at 10 Gbit/s.
constexpr std::size_t short_messages = 16, long_messages = 8;
constexpr std::size_t min_long_bytes = std::size_t{256} << 10,
                      max_long_bytes = std::size_t{1} << 30;

class block_requests final : public detail::posted_blocks {
 public:
  block_requests(mpi::team& ranks, std::size_t unit_bytes)
      : ranks_(ranks), unit_bytes_(unit_bytes), tag_(ranks.take_message_tag()) {}

  void start(std::span<const outgoing_block> outgoing, std::span<const incoming_block> incoming,
             send_order order, const sent_callback& sent) override {
    arriving_.clear();
    receives_.clear();
    sends_.clear();
    for (const auto& block : incoming)
      for (std::size_t begin = 0, k = 0; begin < block.bytes; ++k) {
        const std::size_t bytes = message_bytes(block.source, block.bytes, begin, k);
        check(MPI_Irecv(block.data + begin, count(bytes, "MPI_Irecv"), MPI_BYTE, block.source, tag_,
                        ranks_.comm(), &receives_.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Irecv");
        arriving_.push_back({block.data + begin, bytes});
        begin += bytes;
      }
    completed_.resize(receives_.size());
    left_ = receives_.size();
    progress_.assign(outgoing.size(), {});
    const bool by_turns = order == send_order::interleaved;
    bool has_sent = true;
    while (has_sent) {
      has_sent = false;
      for (std::size_t i = 0; i < outgoing.size(); ++i)
        while (progress_[i].begin < outgoing[i].bytes) {
          send(outgoing[i], progress_[i], sent);
          has_sent = true;
          if (by_turns) break;
        }
    }
    are_sent_ = sends_.empty();
  }

  bool advance(const received_callback& received) override {
    int ended = 0;
    if (left_ > 0) {
      check(MPI_Testsome(static_cast<int>(receives_.size()), receives_.data(), &ended,
                         completed_.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome");
      left_ -= static_cast<std::size_t>(std::max(ended, 0));
      if (received)
        for (int k = 0; k < ended; ++k) {
          const auto& message = arriving_[static_cast<std::size_t>(completed_[k])];
          received(message.data, message.bytes);
        }
    }
    if (left_ > 0 || are_sent_) return ended > 0;
    are_sent_ = test_all(sends_);
    return are_sent_ || ended > 0;
  }
  [[nodiscard]] bool is_done() const noexcept override { return left_ == 0 && are_sent_; }

 private:
  struct arriving_message {
    std::byte* data;
    std::size_t bytes;
  };

  struct block_progress {
    std::size_t begin = 0, messages = 0;
  };

  void send(const outgoing_block& block, block_progress& progress, const sent_callback& sent) {
    const std::size_t bytes =
        message_bytes(block.target, block.bytes, progress.begin, progress.messages);
    check(MPI_Isend(block.data + progress.begin, count(bytes, "MPI_Isend"), MPI_BYTE, block.target,
                    tag_, ranks_.comm(), &sends_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
    sent(block.target, bytes);
    progress.begin += bytes;
    ++progress.messages;
  }
  // The length of message k of a block, which begins at `begin`. Both ends compute it.
  [[nodiscard]] std::size_t message_bytes(int peer, std::size_t block_bytes, std::size_t begin,
                                          std::size_t k) const {
    const std::size_t left = block_bytes - begin;
    const std::size_t at_once = ranks_.eager_bytes_to(peer);
    std::size_t wanted = at_once;
    if (k >= short_messages || at_once == 0)
      wanted = std::clamp(block_bytes / long_messages, min_long_bytes, max_long_bytes);
    return std::min(left, std::max<std::size_t>(1, wanted / unit_bytes_) * unit_bytes_);
  }

  mpi::team& ranks_;
  std::size_t unit_bytes_;
  int tag_;
  std::vector<MPI_Request> receives_, sends_;
  std::vector<arriving_message> arriving_;  // indexed as receives_
  std::vector<int> completed_;
  std::vector<block_progress> progress_;  // of the outgoing blocks
  std::size_t left_ = 0;                  // receives that have not ended
  bool are_sent_ = true;
};

}  // namespace

std::unique_ptr<detail::posted_blocks> make_block_requests(longshore::team& ranks,
                                                           std::size_t unit_bytes) {
  return std::make_unique<block_requests>(dynamic_cast<mpi::team&>(ranks), unit_bytes);
}

}  // namespace longshore::mpi
