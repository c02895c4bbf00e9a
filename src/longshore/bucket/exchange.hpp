// The exchange of a bucket sort: every rank has a block for every other; how the blocks travel is the strategy.
#pragma once

#include <longshore/bucket/strategy.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace longshore::bucketing {

/// What one rank sends and where its own keys shall lie. Counts are in keys, by rank.
struct blocks {
  const std::byte* outgoing;  ///< the blocks for all ranks, in rank order, without gaps
  std::span<const std::size_t> outgoing_counts;
  segment& incoming;  ///< room for what all send to this rank, from its start on; all ranks name the same segment
  std::span<const std::size_t> incoming_counts;
  std::size_t key_bytes;
};

/// One strategy with what it keeps between uses.
class exchange {
 public:
  virtual ~exchange() = default;
  /// Collective. Returns when every rank has all its keys (all strategies end with a barrier, so that their times have the
  /// same cut). The order of what arrives is the strategy's. REQUIRES: all ranks have called something collective since the
  /// last run.
  virtual void run(const blocks& what) = 0;
  /// What this rank sent since it was made, without blocks to itself; payload_bytes stays 0.
  [[nodiscard]] const traffic& sent() const noexcept { return sent_; }

 protected:
  explicit exchange(team& team) : team_(team) {}
  void count_message(int target, std::size_t bytes) noexcept {
    sent_.messages += 1;
    sent_.wire_bytes += bytes;
    if (!team_.nodes().is_local(target)) sent_.offnode_bytes += bytes;
  }
  team& team_;
  traffic sent_;
};

/// Collective. `seed` (the same on all ranks) is that of a random order. Throws errc::unsupported, on all ranks, as why_not
/// says.
///
///   put        per target one fetch_add, which says where in its memory the block goes, and one put (ISx over SHMEM).
///              8 bytes per rank.
///   sendrecv   blocks cut into messages on channels, received in place. 2 slots of 32 KiB per peer (twice that between nodes).
///   alltoallv  one collective call of the transport (ISx over MPI). Memory as the library takes.
[[nodiscard]] std::unique_ptr<exchange> make_exchange(team& team, bucket_exchange strategy, exchange_order order,
                                                      std::uint64_t seed);

}  // namespace longshore::bucketing
