#include <longshore/core/error.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/alltoallv_exchange.hpp>
#include <longshore/sort/detail/message_exchange.hpp>
#include <longshore/sort/detail/put_exchange.hpp>
#include <longshore/sort/detail/put_scan_exchange.hpp>
#include <longshore/sort/detail/target_order.hpp>
#include <longshore/sort/detail/two_hop_exchange.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/sort/detail/mpi/rma_exchange.hpp>
#endif

#include <cstring>

namespace longshore {
namespace {

// Sets `starts` to the beginning of each block and the end of the last one, in bytes.
void block_starts(std::span<const std::size_t> counts, std::size_t item_bytes,
                  std::span<std::size_t> starts) {
  starts[0] = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    starts[rank + 1] = starts[rank] + counts[rank] * item_bytes;
}

}  // namespace

void block_exchange::prepare(const block_counts& counts) {
  block_starts(counts.outgoing, item_bytes_, outgoing_starts_);
  block_starts(counts.incoming, item_bytes_, incoming_starts_);
  incoming_ = grow_incoming(counts.received * item_bytes_, counts.most_received * item_bytes_);
  prepare_transfer(counts);
}

void block_exchange::run(const std::byte* outgoing, const arrival_callback& arrived) {
  transfer(outgoing, arrived);
  team_.barrier();
  after_barrier();
}

void block_exchange::copy_own_block(const std::byte* outgoing, const arrival_callback& arrived) {
  const int me = team_.rank();
  if (bytes_to(me) == 0) return;
  constexpr std::size_t piece_bytes = std::size_t{64} << 10;
  const std::size_t piece = arrived ? round_up(piece_bytes, item_bytes_) : bytes_to(me);
  for (std::size_t done = 0; done < bytes_to(me); done += piece) {
    const std::size_t part = std::min(piece, bytes_to(me) - done);
    std::memcpy(incoming_ + incoming_starts_[me] + done, outgoing + outgoing_starts_[me] + done,
                part);
    if (arrived) arrived((incoming_starts_[me] + done) / item_bytes_, part / item_bytes_);
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
      return std::make_unique<detail::put_exchange>(team, item_bytes, std::move(targets));
    case exchange_strategy::put_scan:
      return std::make_unique<detail::put_scan_exchange>(team, item_bytes, std::move(targets),
                                                         false);
    case exchange_strategy::direct:
      return std::make_unique<detail::put_scan_exchange>(team, item_bytes, std::move(targets),
                                                         true);
    case exchange_strategy::sendrecv:
      return std::make_unique<detail::message_exchange>(team, item_bytes, std::move(targets),
                                                        false);
    case exchange_strategy::channel:
      return std::make_unique<detail::message_exchange>(team, item_bytes, std::move(targets), true);
    case exchange_strategy::alltoallv:
      return std::make_unique<detail::alltoallv_exchange>(team, item_bytes);
    case exchange_strategy::two_hop:
      return std::make_unique<detail::two_hop_exchange>(team, item_bytes);
#ifdef LONGSHORE_HAVE_MPI
    case exchange_strategy::rma:
      return std::make_unique<mpi::rma_exchange>(team, item_bytes, std::move(targets));
#endif
    default:
      fail(errc::unsupported,
           "bucket sort: exchange {} stands for a choice of exchanges: choose one before",
           name_of(options.strategy));
  }
}

}  // namespace longshore
