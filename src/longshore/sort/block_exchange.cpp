// The steps that all exchanges of a sort share, and the selection of the class for a strategy.
#include <longshore/core/error.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/alltoallv_exchange.hpp>
#include <longshore/sort/detail/message_exchange.hpp>
#include <longshore/sort/detail/put_exchange.hpp>
#include <longshore/sort/detail/put_scan_exchange.hpp>
#include <longshore/sort/detail/target_order.hpp>
#include <longshore/sort/detail/two_hop_exchange.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/sort/detail/mpi/block_requests.hpp>
#include <longshore/sort/detail/mpi/rma_exchange.hpp>
#endif

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

// Null if blocks for other nodes need channels.
std::unique_ptr<detail::posted_blocks> make_posted_blocks([[maybe_unused]] team& team,
                                                          [[maybe_unused]] std::size_t item_bytes) {
#ifdef LONGSHORE_HAVE_MPI
  const auto layout = exchange_layout_of(team);
  if (layout.mpi && layout.nodes > 1) return mpi::make_block_requests(team, item_bytes);
#endif
  return nullptr;
}

}  // namespace

void block_exchange::prepare(const block_counts& counts) {
  block_starts(counts.outgoing, item_bytes_, outgoing_starts_);
  block_starts(counts.incoming, item_bytes_, incoming_starts_);
  incoming_ = grow_incoming(counts.received * item_bytes_, counts.max_received * item_bytes_);
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
  using enum detail::message_streams::send_order;
  using enum detail::put_scan_exchange::node_blocks;
  switch (options.strategy) {
    case exchange_strategy::put:
      return std::make_unique<detail::put_exchange>(team, item_bytes, std::move(targets));
    case exchange_strategy::put_scan:
      return std::make_unique<detail::put_scan_exchange>(team, item_bytes, std::move(targets), put);
    case exchange_strategy::direct:
      return std::make_unique<detail::put_scan_exchange>(team, item_bytes, std::move(targets),
                                                         stored_by_caller);
    case exchange_strategy::sendrecv:
      return std::make_unique<detail::message_exchange>(team, item_bytes, std::move(targets),
                                                        target_by_target,
                                                        make_posted_blocks(team, item_bytes));
    case exchange_strategy::channel:
      return std::make_unique<detail::message_exchange>(
          team, item_bytes, std::move(targets), interleaved, make_posted_blocks(team, item_bytes));
    case exchange_strategy::alltoallv:
      return std::make_unique<detail::alltoallv_exchange>(team, item_bytes);
    case exchange_strategy::two_hop:
      return std::make_unique<detail::two_hop_exchange>(team, item_bytes);
    case exchange_strategy::rma:
#ifdef LONGSHORE_HAVE_MPI
      return std::make_unique<mpi::rma_exchange>(team, item_bytes, std::move(targets));
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
