// The exchanges sendrecv and channel: blocks travel as messages of up to 32 KiB on channels. If the
// transport has posted_blocks, these carry the blocks for other nodes instead. sendrecv sends to
// one target after the other. channel sends to all in turn, and calls `arrived`.
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/detail/posted_blocks.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore::detail {
namespace {

class message_exchange final : public block_exchange {
 public:
  using send_order = message_streams::send_order;

  // `posted` carries the blocks between nodes. If null, channels carry them.
  message_exchange(team& team, std::size_t item_bytes, std::vector<int> targets, send_order order,
                   std::unique_ptr<posted_blocks> posted)
      : block_exchange(team, item_bytes),
        order_(order),
        posted_(std::move(posted)),
        targets_(std::move(targets)),
        streams_(team, with_channels(targets_), with_channels(sources_of(team)), item_bytes) {}
  // After a failure the incoming items are leaked, because messages may still arrive there.
  ~message_exchange() override {
    if (!posted_ || posted_->is_done()) return;
    static_cast<void>(new growable_buffer(std::move(buffer_)));
    static_cast<void>(posted_.release());
  }

 private:
  static std::vector<int> sources_of(const team& team) {
    std::vector<int> sources;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank()) sources.push_back(rank);
    return sources;
  }
  [[nodiscard]] bool is_posted(int peer) const { return posted_ && !team_.nodes().is_local(peer); }
  [[nodiscard]] std::vector<int> with_channels(std::vector<int> peers) const {
    std::erase_if(peers, [this](int peer) { return is_posted(peer); });
    return peers;
  }
  std::byte* grow_incoming(std::size_t bytes, std::size_t) override { return buffer_.grow(bytes); }
  void prepare_transfer(const block_counts& counts) override {
    streams_.make_room(counts.max_block * item_bytes_);
  }
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override {
    const bool notifies = order_ == send_order::interleaved && arrived;
    for (std::size_t k = 0; k < streams_.to().size(); ++k) {
      const int target = streams_.to()[k];
      streams_.outgoing(k).push_back({outgoing + outgoing_starts_[target], bytes_to(target)});
    }
    for (std::size_t k = 0; k < streams_.from().size(); ++k) {
      const int source = streams_.from()[k];
      streams_.incoming(k).push_back({incoming_ + incoming_starts_[source], bytes_from(source)});
    }
    posted_blocks::received_callback received;
    if (notifies)
      received = [&](const std::byte* data, std::size_t bytes) {
        arrived(static_cast<std::size_t>(data - incoming_) / item_bytes_, bytes / item_bytes_);
      };
    const auto sent = [this](int target, std::size_t bytes) { count_message(target, bytes); };
    start_posted(outgoing, sent);
    copy_own_block(outgoing, notifies ? arrived : arrival_callback());
    streams_.begin();
    while (!streams_.is_done() || (posted_ && !posted_->is_done()))
      for (waiter wait(team_, "a free slot or a message");; wait.pause()) {
        const bool moved = streams_.advance(order_, sent, received);
        if ((posted_ && posted_->advance(received)) || moved) break;
      }
    streams_.clear();
  }
  void start_posted(const std::byte* outgoing, const posted_blocks::sent_callback& sent) {
    if (!posted_) return;
    std::vector<posted_blocks::outgoing_block> to;
    std::vector<posted_blocks::incoming_block> from;
    for (const int target : targets_)
      if (is_posted(target))
        to.push_back({target, outgoing + outgoing_starts_[target], bytes_to(target)});
    for (int source = 0; source < team_.size(); ++source)
      if (is_posted(source))
        from.push_back({source, incoming_ + incoming_starts_[source], bytes_from(source)});
    posted_->start(to, from, order_, sent);
  }

  send_order order_;
  std::unique_ptr<posted_blocks> posted_;
  std::vector<int> targets_;
  growable_buffer buffer_;
  message_streams streams_;
};

}  // namespace

made_exchange make_message_exchange(team& team, std::size_t item_bytes, std::vector<int> targets,
                                    exchange_strategy strategy) {
  using enum message_streams::send_order;
  std::unique_ptr<posted_blocks> posted;
#ifdef LONGSHORE_HAVE_MPI
  const auto layout = exchange_layout_of(team);
  if (layout.mpi && layout.nodes > 1) posted = mpi::make_block_requests(team, item_bytes);
#endif
  return std::make_unique<message_exchange>(
      team, item_bytes, std::move(targets),
      strategy == exchange_strategy::channel ? interleaved : target_by_target, std::move(posted));
}

}  // namespace longshore::detail
