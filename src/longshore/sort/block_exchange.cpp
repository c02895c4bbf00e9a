#include <longshore/core/error.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/message_exchange.hpp>
#include <longshore/sort/detail/order.hpp>
#include <longshore/sort/detail/put_exchange.hpp>
#include <longshore/sort/detail/room.hpp>
#include <longshore/sort/detail/two_hop.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/sort/detail/mpi/rma_exchange.hpp>
#endif

#include <cstring>

namespace longshore {
namespace {

// Where each block begins, in bytes, and where the last ends.
void block_starts(std::span<const std::size_t> counts, std::size_t item_bytes,
                  std::span<std::size_t> starts) {
  starts[0] = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    starts[rank + 1] = starts[rank] + counts[rank] * item_bytes;
}

class alltoallv_exchange final : public block_exchange {
 public:
  alltoallv_exchange(team& team, std::size_t item_bytes) : block_exchange(team, item_bytes) {}

 private:
  std::byte* make_room(std::size_t bytes, std::size_t) override { return room_.grow(bytes); }
  void agree(const block_counts& counts) override { counts_ = &counts; }
  void move(const std::byte* outgoing, const arrival&) override {
    team_.alltoallv(outgoing, counts_->outgoing, incoming_, counts_->incoming, item_bytes_);
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank() && bytes_to(target) > 0) count_message(target, bytes_to(target));
  }

  detail::private_room room_;
  const block_counts* counts_ = nullptr;
};

}  // namespace

void block_exchange::prepare(const block_counts& counts) {
  block_starts(counts.outgoing, item_bytes_, out_);
  block_starts(counts.incoming, item_bytes_, in_);
  incoming_ = make_room(counts.received * item_bytes_, counts.most_received * item_bytes_);
  agree(counts);
}

void block_exchange::run(const std::byte* outgoing, const arrival& arrived) {
  move(outgoing, arrived);
  team_.barrier();
  all_moved();
}

void block_exchange::copy_own_block(const std::byte* outgoing, const arrival& arrived) {
  const int me = team_.rank();
  if (bytes_to(me) == 0) return;
  constexpr std::size_t piece_bytes = std::size_t{64} << 10;
  const std::size_t piece = arrived ? round_up(piece_bytes, item_bytes_) : bytes_to(me);
  for (std::size_t done = 0; done < bytes_to(me); done += piece) {
    const std::size_t part = std::min(piece, bytes_to(me) - done);
    std::memcpy(incoming_ + in_[me] + done, outgoing + out_[me] + done, part);
    if (arrived) arrived((in_[me] + done) / item_bytes_, part / item_bytes_);
  }
}

std::unique_ptr<block_exchange> make_block_exchange(team& team,
                                                    const block_exchange_options& options,
                                                    std::size_t item_bytes) {
  if (const auto reason = why_not(options.strategy, options.order, exchange_layout_of(team)))
    fail(errc::unsupported, "bucket sort: {}", *reason);
  auto targets =
      detail::targets_of(options.order, team.rank(), team.size(), team.nodes(), options.seed);
  switch (options.strategy) {
    case exchange_strategy::put:
      return std::make_unique<detail::claimed_put>(team, item_bytes, std::move(targets));
    case exchange_strategy::put_scan:
      return std::make_unique<detail::scanned_put>(team, item_bytes, std::move(targets), false);
    case exchange_strategy::direct:
      return std::make_unique<detail::scanned_put>(team, item_bytes, std::move(targets), true);
    case exchange_strategy::sendrecv:
      return std::make_unique<detail::message_exchange>(team, item_bytes, std::move(targets),
                                                        false);
    case exchange_strategy::channel:
      return std::make_unique<detail::message_exchange>(team, item_bytes, std::move(targets), true);
    case exchange_strategy::alltoallv:
      return std::make_unique<alltoallv_exchange>(team, item_bytes);
    case exchange_strategy::two_hop: return std::make_unique<detail::two_hop>(team, item_bytes);
#ifdef LONGSHORE_HAVE_MPI
    case exchange_strategy::rma:
      return std::make_unique<mpi::rma_exchange>(team, item_bytes, std::move(targets));
#endif
    default:
      fail(errc::unsupported, "bucket sort: exchange {} is no single way to move blocks",
           name_of(options.strategy));
  }
}

}  // namespace longshore
