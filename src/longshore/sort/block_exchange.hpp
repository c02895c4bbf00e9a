// The exchange phase of a bucket sort: every rank has a block of items for every rank. The exchange
// strategy decides how the blocks travel.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

/// The sizes of all blocks of one exchange, in items, indexed by rank.
struct block_counts {
  std::vector<std::size_t> outgoing, incoming;
  std::size_t received = 0;      ///< the sum of incoming
  std::size_t max_received = 0;  ///< the maximum of `received` over all ranks
  /// At least the size of the largest block of all ranks. Slots of messages need no more room.
  std::size_t max_block = std::size_t{1} << 20;
  explicit block_counts(int ranks = 0);
};

/// Called after `count` items were stored at `position` of the incoming items. The items stay at
/// this position and are still in the cache.
using arrival_callback = detail::shared_function<void(std::size_t position, std::size_t count)>;

/// One exchange strategy and its buffers, which are kept between runs. The buffers include the
/// memory for incoming items.
class block_exchange {
 public:
  virtual ~block_exchange();
  block_exchange(const block_exchange&) = delete;
  block_exchange& operator=(const block_exchange&) = delete;

  /// Collective. Prepares the next run. If there is too little memory for the incoming items,
  /// allocates 1/64 more than needed. Computes where blocks will lie, if the strategy can do that
  /// before the run. `counts` must live until the run has ended. Throws errc::out_of_memory.
  void prepare(const block_counts& counts);
  /// After prepare: the address for each rank at which the caller may store the block for that
  /// rank. run() does not read such a block from `outgoing`. An address is null if this rank cannot
  /// store to that rank. The span is empty if the strategy has no such addresses.
  [[nodiscard]] std::span<std::byte* const> direct_destinations() const noexcept;
  /// After prepare: the address of the incoming items of each rank. The caller may store its items
  /// anywhere there, and not as blocks, if each rank gets the number of items that prepare got. The
  /// span is empty unless the caller can store to all ranks.
  [[nodiscard]] std::span<std::byte* const> incoming_of_ranks() const noexcept;
  /// Collective, once per prepare. `outgoing`: the blocks for all ranks in rank order, with the
  /// sizes that prepare got. Returns when every rank has all its items and no rank reads `outgoing`
  /// any more. Every strategy ends with a barrier, so the times of strategies can be compared. If
  /// `arrived` is not empty, the strategy calls it for all incoming items or for none.
  void run(const std::byte* outgoing, const arrival_callback& arrived);
  /// The incoming items. With a deterministic strategy the blocks lie in rank order, and the items
  /// of a block in the order of the sender. Valid until the next prepare.
  [[nodiscard]] std::byte* incoming() const noexcept { return incoming_; }

  /// The traffic that this rank sent to other ranks since construction. payload_bytes is always 0.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

 protected:
  block_exchange(team& team, std::size_t item_bytes);

  /// Collective. Returns memory for at least `bytes` bytes of incoming items. `max_bytes` is the
  /// maximum of `bytes` over all ranks.
  virtual std::byte* grow_incoming(std::size_t bytes, std::size_t max_bytes) = 0;
  /// Collective. Called by prepare().
  virtual void prepare_transfer(const block_counts& counts) = 0;
  virtual void transfer(const std::byte* outgoing, const arrival_callback& arrived) = 0;
  virtual void after_barrier() {}

  void count_message(int target, std::size_t bytes) noexcept {
    sent_.messages += 1;
    sent_.wire_bytes += bytes;
    if (!team_.nodes().is_local(target)) sent_.offnode_bytes += bytes;
  }
  void count_to_all(std::size_t bytes) noexcept {
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank()) count_message(target, bytes);
  }
  [[nodiscard]] std::size_t bytes_to(int target) const noexcept {
    return outgoing_starts_[target + 1] - outgoing_starts_[target];
  }
  [[nodiscard]] std::size_t bytes_from(int source) const noexcept {
    return incoming_starts_[source + 1] - incoming_starts_[source];
  }
  void copy_own_block(const std::byte* outgoing, const arrival_callback& arrived);

  team& team_;
  std::size_t item_bytes_;
  // The bytes at which the blocks to and from each rank begin, and the end of the last block.
  std::vector<std::size_t> outgoing_starts_, incoming_starts_;
  std::byte* incoming_ = nullptr;
  std::vector<std::byte*> direct_destinations_, incoming_of_ranks_;
  traffic sent_;
};

struct block_exchange_options {
  exchange_strategy strategy = exchange_strategy::put;
  exchange_order order = exchange_order::round_robin;
  std::uint64_t seed = 0;  ///< for random orders; the same on all ranks
};

/// Collective. Throws errc::unsupported, on all ranks, for a combination that why_not refuses, and
/// for auto (bucket_sorter replaces auto by another strategy first).
///
/// Cost per rank, for P ranks on N nodes of L ranks, and n bytes in the blocks for the P - 1 other
/// ranks. The table leaves out the memory for the incoming items. It also leaves out the messages
/// before the exchange, in which the ranks tell each other the sizes of blocks.
///
///               messages                    bytes on the wire          memory
///   put         2 (P - 1)                   n + 8 (P - 1)              16 P bytes
///   put-scan    2 (P - 1)                   n + 8 (P - 1)              8 P bytes
///   direct      P - 1 offsets, and a block  8 (P - 1), and the         8 P bytes
///               to each rank of other nodes bytes for other nodes
///   sendrecv    one per 32 KiB              n                          2 slots per peer (as long
///                                                                      as blocks, at most 32 KiB);
///                                                                      4 for another node's
///   channel     one per 32 KiB              n                          as sendrecv
///   alltoallv   P - 1                       n                          that of the library
///   rma         2 (P - 1)                   n + 8 (P - 1)              16 bytes; two windows
///   two-hop     L - 1 within the node,      n, and n (L - 1) / L       about n for relayed blocks;
///               N - 1 to other nodes        within the node            slots for L + N - 2 peers
///
///   put         fetch-and-adds reserve memory at all targets, then puts (ISx over SHMEM)
///   put-scan    receivers compute the offsets by a prefix sum and send them, then a put
///   direct      as put-scan, but the caller stores items for ranks of the same node
///   sendrecv    messages to one target after the other. Over transport mpi, sendrecv and channel
///               need no slots for other nodes: MPI sends from the outgoing items and receives into
///               the incoming items, in up to 24 messages per block, the first 16 of 63 KiB
///   channel     messages to all targets in turn; calls `arrived` for each message
///   alltoallv   one collective call (ISx over MPI)
///   rma         MPI_Fetch_and_op, MPI_Put, one flush
///   two-hop     the ranks of a node join their blocks for another node in longer messages
[[nodiscard]] std::unique_ptr<block_exchange> make_block_exchange(
    team& team, const block_exchange_options& options, std::size_t item_bytes);

}  // namespace longshore
