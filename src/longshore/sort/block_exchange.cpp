// The steps that all exchanges of a sort share, the selection of the class for a strategy, and the
// exchange alltoallv.
#include <longshore/core/error.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>

#include <algorithm>
#include <cstring>

namespace longshore {
namespace {

// Sets `starts` to where each block begins, in bytes, and to the end of the last block.
void block_starts(std::span<const std::size_t> counts, std::size_t item_bytes,
                  std::span<std::size_t> starts) {
  starts[0] = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    starts[rank + 1] = starts[rank] + counts[rank] * item_bytes;
}

// All blocks in one collective call of the transport.
class alltoallv_exchange final : public block_exchange {
 public:
  alltoallv_exchange(team& team, std::size_t item_bytes) : block_exchange(team, item_bytes) {}

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t) override { return buffer_.grow(bytes); }
  void prepare_transfer(const block_counts& counts) override { counts_ = &counts; }
  void transfer(const std::byte* outgoing, const arrival_callback&) override {
    team_.alltoallv(outgoing, counts_->outgoing, incoming_, counts_->incoming, item_bytes_);
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank() && bytes_to(target) > 0) count_message(target, bytes_to(target));
  }

  detail::growable_buffer buffer_;
  const block_counts* counts_ = nullptr;
};

}  // namespace

void block_exchange::prepare(const block_counts& counts) {
  block_starts(counts.outgoing, item_bytes_, outgoing_starts_);
  block_starts(counts.incoming, item_bytes_, incoming_starts_);
  incoming_ = grow_incoming(counts.received * item_bytes_, counts.max_received * item_bytes_);
  prepare_transfer(counts);
}

block_counts::block_counts(int ranks)
    : outgoing(static_cast<std::size_t>(ranks)), incoming(outgoing.size()) {}

block_exchange::block_exchange(team& team, std::size_t item_bytes)
    : team_(team),
      item_bytes_(item_bytes),
      outgoing_starts_(static_cast<std::size_t>(team.size()) + 1),
      incoming_starts_(outgoing_starts_.size()) {}

block_exchange::~block_exchange() = default;

std::span<std::byte* const> block_exchange::direct_destinations() const noexcept {
  return direct_destinations_;
}

std::span<std::byte* const> block_exchange::incoming_of_ranks() const noexcept {
  return incoming_of_ranks_;
}

void block_exchange::run(const std::byte* outgoing, const arrival_callback& arrived) {
  transfer(outgoing, arrived);
  team_.barrier();
  after_barrier();
}

void block_exchange::copy_own_block(const std::byte* outgoing, const arrival_callback& arrived) {
  const int me = team_.rank();
  if (bytes_to(me) == 0) return;
  team_.charge_copy(team_.rank(), bytes_to(me));
  // A piece of this size is still in the cache when `arrived` is called.
  constexpr std::size_t wanted_bytes = std::size_t{64} << 10;
  const std::size_t piece_bytes = arrived ? round_up(wanted_bytes, item_bytes_) : bytes_to(me);
  for (std::size_t done = 0; done < bytes_to(me); done += piece_bytes) {
    const std::size_t bytes = std::min(piece_bytes, bytes_to(me) - done);
    std::memcpy(incoming_ + incoming_starts_[me] + done, outgoing + outgoing_starts_[me] + done,
                bytes);
    if (arrived) arrived((incoming_starts_[me] + done) / item_bytes_, bytes / item_bytes_);
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
    case exchange_strategy::put_scan:
    case exchange_strategy::direct:
      return detail::make_put_exchange(team, item_bytes, std::move(targets), options.strategy);
    case exchange_strategy::sendrecv:
    case exchange_strategy::channel:
      return detail::make_message_exchange(team, item_bytes, std::move(targets), options.strategy);
    case exchange_strategy::alltoallv:
      return std::make_unique<alltoallv_exchange>(team, item_bytes);
    case exchange_strategy::two_hop: return detail::make_two_hop_exchange(team, item_bytes);
    case exchange_strategy::rma:
#ifdef LONGSHORE_HAVE_MPI
      return mpi::make_rma_exchange(team, item_bytes, std::move(targets));
#else
      break;  // why_not has refused rma, because no transport is named mpi
#endif
    case exchange_strategy::automatic: break;
  }
  fail(errc::unsupported,
       "bucket sort: exchange {} stands for a choice among exchanges: choose an exchange first",
       name_of(options.strategy));
}

}  // namespace longshore
