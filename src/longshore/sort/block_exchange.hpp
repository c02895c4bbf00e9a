// The exchange of a bucket sort: every rank has a block of items for every other; how the blocks
// travel is the strategy. Of items only their size is known here.
#pragma once

#include <longshore/sort/strategy.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace longshore {

/// What one exchange moves, in items: counts by rank.
struct block_counts {
  std::vector<std::size_t> outgoing, incoming;
  std::size_t received = 0;       ///< the sum of incoming
  std::size_t most_received = 0;  ///< by any rank
  explicit block_counts(int ranks = 0)
      : outgoing(static_cast<std::size_t>(ranks)), incoming(outgoing.size()) {}
};

/// Called with (position, count) when so many items lie in the memory of the receiver, where they
/// stay, and are still in its cache.
using arrival = std::function<void(std::size_t position, std::size_t count)>;

/// One strategy with what it keeps between uses, also the memory into which it receives.
class block_exchange {
 public:
  virtual ~block_exchange() = default;
  block_exchange(const block_exchange&) = delete;
  block_exchange& operator=(const block_exchange&) = delete;

  /// Collective. Announces what the next run moves: makes room for exactly that (1/64 more when it
  /// must grow), and finds out where blocks go as far as the strategy knows it before. Throws
  /// errc::out_of_memory.
  void prepare(const block_counts& counts);
  /// After prepare. Where this rank may store its block for each rank by itself, null where it may
  /// not: what is stored there is not to be in `outgoing`. Empty: nowhere.
  [[nodiscard]] std::span<std::byte* const> places() const noexcept { return places_; }
  /// Collective, once per prepare. `outgoing`: the blocks for all ranks in rank order, each as long
  /// as announced. Returns when every rank has all its items, and no rank reads `outgoing` any
  /// more: all strategies end with a barrier, so that their times have the same cut. A strategy
  /// that works on what comes calls `arrived`, for all items or for none.
  void run(const std::byte* outgoing, const arrival& arrived);
  /// What came, from its start on; the order is that of the ranks, and within a rank that of its
  /// block, where the strategy is deterministic. Valid until the next prepare.
  [[nodiscard]] std::byte* incoming() const noexcept { return incoming_; }

  /// What this rank sent since it was made, without blocks to itself; payload_bytes stays 0.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

 protected:
  block_exchange(team& team, std::size_t item_bytes)
      : team_(team),
        item_bytes_(item_bytes),
        out_(static_cast<std::size_t>(team.size()) + 1),
        in_(out_.size()) {}

  /// Collective. The memory for incoming items, grown when it must. `most_bytes`: of any rank.
  virtual std::byte* make_room(std::size_t bytes, std::size_t most_bytes) = 0;
  /// Collective. What else is to be found out.
  virtual void agree(const block_counts& counts) = 0;
  virtual void move(const std::byte* outgoing, const arrival& arrived) = 0;
  /// After all have moved what they had.
  virtual void all_moved() {}

  void count_message(int target, std::size_t bytes) noexcept {
    sent_.messages += 1;
    sent_.wire_bytes += bytes;
    if (!team_.nodes().is_local(target)) sent_.offnode_bytes += bytes;
  }
  /// A small message of as many bytes to each other rank, as a collective call sends.
  void count_to_all(std::size_t bytes) noexcept {
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank()) count_message(target, bytes);
  }
  [[nodiscard]] std::size_t bytes_to(int target) const noexcept {
    return out_[target + 1] - out_[target];
  }
  [[nodiscard]] std::size_t bytes_from(int source) const noexcept {
    return in_[source + 1] - in_[source];
  }
  void copy_own_block(const std::byte* outgoing, const arrival& arrived);

  team& team_;
  std::size_t item_bytes_;
  std::vector<std::size_t> out_,
      in_;  // where the blocks to and from each rank begin, in bytes; one more at the end
  std::byte* incoming_ = nullptr;
  std::vector<std::byte*> places_;
  traffic sent_;
};

struct block_exchange_options {
  exchange_strategy strategy = exchange_strategy::put;
  exchange_order order = exchange_order::round_robin;
  std::uint64_t seed = 0;  ///< of a random order, the same on all ranks
};

/// Collective. Throws errc::unsupported, on all ranks, as why_not says, and for auto, which is
/// chosen before (choose_exchange.hpp). P ranks, n bytes per rank in blocks for P - 1 others;
/// messages per rank, without the counts that all send before:
///
///               messages                          bytes on the wire       memory per rank beside what is received
///   put         2 (P - 1): a fetch_add says       n + 8 (P - 1)           16 bytes
///               where a block goes, then a put
///               (ISx over SHMEM)
///   put-scan    2 (P - 1): places are told by     n + 8 (P - 1)           8 P
///               those who have summed up what
///               they get, then a put
///   direct      as put-scan to other nodes;       n + 8 (P - 1) there     8 P
///               within the node none: items
///               are stored where they belong
///   sendrecv    blocks in messages of 32 KiB,     n                       2 slots of 32 KiB per peer (twice that between
///               to one target after the other                             nodes)
///   channel     the same to all in turns; the     n                       the same
///               receiver counts digits as they
///               come
///   alltoallv   P - 1 blocks in one collective    n                       as the library takes
///               call (ISx over MPI)
///   rma         2 (P - 1): MPI_Fetch_and_op,      n + 8 (P - 1)           16 bytes; two windows
///               MPI_Put, one flush
///   two-hop     L - 1 within the node of L        n, and n (L-1)/L        what it passes on: about n; slots as sendrecv, for
///               ranks, then one to each other     within the node         L - 1 + N - 1 peers
///               of N nodes: N - 1, longer
[[nodiscard]] std::unique_ptr<block_exchange> make_block_exchange(
    team& team, const block_exchange_options& options, std::size_t item_bytes);

}  // namespace longshore
